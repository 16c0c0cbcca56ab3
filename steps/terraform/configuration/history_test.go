package configuration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// repository is a clone whose commits are hours old.
type repository struct {
	t   *testing.T
	top string
	now time.Time
}

func (r repository) git(ago time.Duration, args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	at := fmt.Sprintf("%d +0000", r.now.Add(-ago).Unix())
	cmd.Dir, cmd.Env = r.top, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at,
		"GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) put(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.top, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r repository) commit(ago time.Duration, subject string) {
	r.t.Helper()
	r.git(ago, "add", "-A")
	r.git(ago, "commit", "-q", "-m", subject)
}

func (r repository) history(in steps.Params) (steps.Observation, error) {
	r.t.Helper()
	if in == nil {
		in = steps.Params{}
	}
	in["dir"] = steps.PathOf(filepath.Join(r.top, "unit"))
	if _, given := in["since"]; !given {
		in["since"] = steps.DurationOf(336 * time.Hour)
	}
	env := steps.Env{Dir: r.top, Now: func() time.Time { return r.now }}
	return stepstest.Observe(r.t.Context(), HistoryProbe{env}, HistoryFacts(), in, stepstest.NewSink())
}

// newRepository has a unit, and a history of which the first commit is a month old.
func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t: t, top: t.TempDir(), now: time.Now()}
	r.git(0, "init", "-q", "-b", "main")
	r.put("unit/main.tf", "resource \"x_y\" \"old\" {}\nresource \"x_y\" \"kept\" {}\n")
	r.put("unit/staging.tfvars", "routing = {}\n")
	r.commit(30*24*time.Hour, "begin")
	r.put("unit/staging.tfvars", "routing = { read_replica_routing = \"on\" }\n")
	r.commit(20*24*time.Hour, "older than two weeks")
	r.put("other/main.tf", "resource \"x_y\" \"elsewhere\" {}\n")
	r.commit(10*24*time.Hour, "another unit")
	r.put("unit/staging.tfvars", "routing = { read_replica_routing = { host = \"h\" } }\n")
	r.commit(9*24*time.Hour, "route by weight\n\nread_replica_routing is an object now")
	r.put("unit/README.md", "read_replica_routing\n")
	r.commit(8*24*time.Hour, "say so")
	r.put("unit/main.tf", "resource \"x_y\" \"new\" {}\nresource \"x_y\" \"kept\" {}\nmodule \"m\" {\n  source = \"./m\"\n}\n")
	r.commit(time.Hour, "rename")
	return r
}

// TestHistoryOfAModule: which commits changed it, in which a key did, and which names went.
func TestHistoryOfAModule(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	key := steps.StringOf("read_replica_routing")
	subjects := func(v steps.Value) (out []string) {
		for _, line := range v.Strings() {
			out = append(out, strings.SplitN(line, " ", 3)[2])
		}
		return out
	}
	check := func(t *testing.T, in steps.Params, changes, keyed, removed, added []string) steps.Observation {
		t.Helper()
		obs, err := r.history(in)
		if err != nil {
			t.Fatal(err)
		}
		f := obs.Facts
		if !slices.Equal(subjects(f["changes"]), changes) || f["commits"].Int() != int64(len(changes)) || !slices.Equal(subjects(f["keyed"]), keyed) ||
			!slices.Equal(f["removed"].Strings(), removed) || !slices.Equal(f["added"].Strings(), added) || !f["whole"].Bool() {
			t.Errorf("changes %v, keyed %v, removed %v, added %v; want %v, %v, %v, %v", f["changes"], f["keyed"], f["removed"], f["added"], changes, keyed, removed, added)
		}
		return obs
	}
	obs := check(t, steps.Params{"key": key}, []string{"rename", "route by weight"}, []string{"route by weight"}, []string{"x_y.old"}, []string{"module.m", "x_y.new"})
	if len(obs.Findings) != 1 || obs.Facts["moved_blocks"].Int() != 0 || obs.Facts["head"].Text() != r.git(0, "rev-parse", "HEAD") {
		t.Errorf("findings %v, facts %v", obs.Findings, obs.Facts)
	}
	check(t, steps.Params{"key": key, "since": steps.DurationOf(2 * time.Hour)}, []string{"rename"}, nil, []string{"x_y.old"}, []string{"module.m", "x_y.new"})
	check(t, steps.Params{"key": key, "since": steps.DurationOf(25 * 24 * time.Hour)}, []string{"rename", "route by weight", "older than two weeks"}, []string{"route by weight", "older than two weeks"}, []string{"x_y.old"}, []string{"module.m", "x_y.new"})
	// From before the first commit on, all is new.
	check(t, steps.Params{"key": key, "since": steps.DurationOf(90 * 24 * time.Hour)}, []string{"rename", "route by weight", "older than two weeks", "begin"}, []string{"route by weight", "older than two weeks"}, nil, []string{"module.m", "x_y.kept", "x_y.new"})

	// What is not committed counts too, and a moved block says that the name went on purpose.
	r.put("unit/moved.tf", "moved {\n  from = x_y.old\n  to   = x_y.new\n}\n")
	obs = check(t, steps.Params{"key": key}, []string{"rename", "route by weight"}, []string{"route by weight"}, []string{"x_y.old"}, []string{"module.m", "x_y.new"})
	if len(obs.Findings) != 0 || obs.Facts["moved_blocks"].Int() != 1 {
		t.Errorf("findings %v, facts %v", obs.Findings, obs.Facts)
	}
	obs, err := r.history(nil)
	if err != nil || obs.Facts["keyed"].Known() {
		t.Errorf("without a key: %v, %v", obs.Facts["keyed"], err)
	}
	r.put("unit/broken.tf", "resource {{{\n")
	if obs, err = r.history(nil); err != nil || obs.Facts["removed"].Known() || !obs.Facts["changes"].Known() {
		t.Errorf("a file that cannot be parsed: %v, %v", obs.Facts, err)
	}
}

// TestHistoryThatIsNotThere: a shallow clone tells nothing of what it lacks, and a
// directory of no clone nothing at all.
func TestHistoryThatIsNotThere(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	shallow := repository{t: t, top: filepath.Join(t.TempDir(), "clone"), now: r.now}
	r.git(0, "clone", "-q", "--depth=2", "file://"+r.top, shallow.top)
	obs, err := shallow.history(nil)
	if err != nil || obs.Facts["whole"].Bool() || obs.Facts["changes"].Known() || obs.Facts["removed"].Known() || len(obs.Gaps) == 0 {
		t.Errorf("a shallow clone: %v, %v, %v", obs.Facts, obs.Gaps, err)
	}
	// It is whole for what it has.
	obs, err = shallow.history(steps.Params{"since": steps.DurationOf(2 * time.Hour)})
	if err != nil || !obs.Facts["whole"].Bool() || obs.Facts["commits"].Int() != 1 {
		t.Errorf("a shallow clone for two hours: %v, %v", obs.Facts, err)
	}
	none := repository{t: t, top: t.TempDir(), now: r.now}
	none.put("unit/main.tf", "")
	if _, err := none.history(nil); err == nil {
		t.Error("a directory of no clone has a history")
	}
}
