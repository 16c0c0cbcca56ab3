package terraform

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/change"
)

// rigID is the id of the locks that a test writes.
const rigID = "11111111-1111-1111-1111-111111111111"

// info is what tofu writes beside a lock, byte by byte: it holds an item of a
// table to that.
func (r *lockRig) info(l backend.LockInfo, age time.Duration) []byte {
	if l.ID == "" {
		l.ID = rigID
	}
	if l.Operation == "" {
		l.Operation = "OperationTypeApply"
	}
	l.Version, l.Path, l.Created = "1.12.6", "net", time.Now().UTC().Add(-age)
	raw, _ := json.Marshal(l)
	return raw
}

// TestLockMatrix shows what handrail says of every lock that a backend can have:
// locks that a real run holds or left when it was killed, and those of other
// machines in the backend's own format. The golden file is to be read; write it
// anew with HANDRAIL_GOLDEN=1 and look at every change.
func TestLockMatrix(t *testing.T) {
	t.Parallel()
	rigs := []func(*testing.T) *lockRig{
		localRig, kubernetesRig,
		func(t *testing.T) *lockRig { return s3Rig(t, "s3, lock file", `use_lockfile = true`, true, false) },
		func(t *testing.T) *lockRig { return s3Rig(t, "s3, table", `dynamodb_table = "locks"`, false, true) },
		func(t *testing.T) *lockRig {
			return s3Rig(t, "s3, lock file and table", "use_lockfile = true\ndynamodb_table = \"locks\"", true, true)
		},
		gcsRig, azureRig, consulRig, pgRig, httpRig,
	}
	texts := make([]string, len(rigs))
	t.Run("backends", func(t *testing.T) {
		for i, build := range rigs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				texts[i] = build(t).walk(t)
			})
		}
	})
	got := "Every lock that a backend can have, and what handrail says of it.\nMade by TestLockMatrix from real servers and real runs; names, ids and times are replaced.\n" +
		"What is said of a release are the floors of the gate; a runbook asks for more, as what became of a run on another machine.\n" + strings.Join(texts, "")
	name := filepath.Join("testdata", "locks.txt")
	if os.Getenv("HANDRAIL_GOLDEN") != "" {
		ok(t, os.WriteFile(name, []byte(got), 0o600))
	}
	want, err := os.ReadFile(name)
	ok(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// walk puts one backend into each state, and looks.
func (r *lockRig) walk(t *testing.T) string {
	out := strings.Builder{}
	fmt.Fprintf(&out, "\n\n%s\n%s\n", strings.ToUpper(r.name), strings.Repeat("=", len(r.name)))
	show := func(name string) { fmt.Fprintf(&out, "\n%s\n%s", name, r.look(t)) }
	w := r.w
	w.run("apply", "-auto-approve", "-input=false")
	show("nobody holds it")
	w.rewrite(r, sixSlow)
	cmd, _ := w.apply()
	show("a run on this machine holds it")
	if r.backend == "local" {
		info := filepath.Join(w.dir, ".terraform.tfstate.lock.info")
		raw, err := os.ReadFile(info)
		ok(t, err)
		ok(t, os.WriteFile(info, raw[:20], 0o600))
		show("a run on this machine holds it, and its info file is torn")
		ok(t, os.WriteFile(info, raw, 0o600))
	}
	w.kill(cmd)
	if r.backend == "pg" {
		r.clear()
	}
	show("that run was killed a moment ago")
	r.clear()
	if r.put != nil {
		r.walkWritten(t, show)
	}
	for _, s := range r.extra {
		end := s.make()
		show(s.name)
		end()
	}
	if r.deny != nil {
		was := w.env.Environ
		w.env.Environ = append(was[:len(was):len(was)], r.deny...)
		show("it cannot be read: wrong credentials, or no way to the server")
		w.env.Environ = was
	}
	proof := r.proof()
	if r.put != nil {
		r.put(r.info(backend.LockInfo{Who: r.me()}, 47*time.Minute), rigID)
		o, err := change.UnlockGate{Env: w.env}.Act(t.Context(), w.confirmed(w.probe("terraform/lock", nil).Facts["id"].Text()), stepstest.NewSink())
		ok(t, err)
		fmt.Fprintf(&out, "\nforce-unlock of a lock that a dead run left\n  outcome    %s\n%s", o.Result, r.look(t))
	}
	fmt.Fprintf(&out, "\nproof\n  %s\n", proof)
	return r.plain(out.String())
}

// walkWritten shows the locks that no run of this machine can be made to hold.
func (r *lockRig) walkWritten(t *testing.T, show func(string)) {
	w := r.w
	for _, s := range []struct {
		name string
		info []byte
	}{
		{"a run of mine that is dead holds it, 47 minutes old", r.info(backend.LockInfo{Who: r.me()}, 47*time.Minute)},
		{"another user's run on this machine that is dead holds it, 47 minutes old", r.info(backend.LockInfo{Who: "deploy@" + w.env.Host}, 47*time.Minute)},
		{"a plan of mine that is dead holds it, 47 minutes old", r.info(backend.LockInfo{Who: r.me(), Operation: "OperationTypePlan"}, 47*time.Minute)},
		{"a run on another machine holds it, two hours old", r.info(backend.LockInfo{Who: "ci@runner-7"}, 2*time.Hour)},
		{"a run on another machine holds it, a minute old", r.info(backend.LockInfo{Who: "ci@runner-7"}, time.Minute)},
		{"a lock from the future: a clock is wrong", r.info(backend.LockInfo{Who: r.me()}, -time.Hour)},
		{"it is held, and what describes it is torn", []byte(`{"ID":"11111111-1111-`)},
		{"it is held, and nothing describes it", nil},
	} {
		r.put(s.info, rigID)
		show(s.name)
		r.clear()
	}
}

func (r *lockRig) me() string { return r.w.env.User + "@" + r.w.env.Host }

// rewrite changes the configuration and leaves the backend as it is.
func (w *world) rewrite(r *lockRig, config string) { w.write(r.backend, r.block, config) }

// look says what a person would want to know of a lock, in the words that a
// person would read.
func (r *lockRig) look(t *testing.T) string {
	t.Helper()
	out := strings.Builder{}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "  %-9s  %s\n", name, fmt.Sprintf(format, args...))
	}
	id := rigID
	obs, err := probe(t.Context(), r.w.env, "terraform/lock", nil, stepstest.NewSink())
	if err != nil {
		line("held", "unknown: %v", err)
	} else {
		f := obs.Facts
		line("held", "%s", say(f["held"]))
		if f["id"].Known() {
			id = f["id"].Text()
		}
		switch {
		case f["who"].Known():
			line("whose", "%s for %s, %s", say(f["who"]), say(f["operation"]), ageClass(f["age"]))
			line("mine", "%s", say(f["own"]))
		case f["held"].Bool():
			line("whose", "%s", say(f["who"]))
		}
		if f["held"].Bool() {
			line("id", "%s", say(f["id"]))
		}
		if f["session"].Known() {
			line("session", "%s", f["session"].Text())
		}
		if f["agree"].Known() {
			line("agree", "%s", say(f["agree"]))
		}
		line("says", "%s", obs.Summary)
		for _, found := range obs.Findings {
			line("", "%s: %s", found.Level, found.Say)
		}
		if f["who"].Known() {
			h := r.w.probe("terraform/holder", r.w.holderParams(obs))
			line("holder", "%s", say(h.Facts["alive"]))
		}
	}
	p, err := change.UnlockGate{Env: r.w.env}.Preview(t.Context(), steps.Params{"lock_id": steps.IdentOf(id)}, stepstest.NewSink())
	switch {
	case err != nil:
		line("release", "refused: %v", err)
	case len(p.Unmet) == 0:
		line("release", "may be released: %s", p.Command)
	default:
		line("release", "refused")
		for _, n := range p.Unmet {
			line("", "- %s -> %s", n.Why, n.Cure)
		}
	}
	if err == nil {
		for _, d := range p.Owes {
			line("owes", "%s", d.Text)
		}
	}
	return out.String()
}

func say(v steps.Value) string {
	switch {
	case !v.Known():
		return "unknown: " + v.Why()
	case v.Type() == steps.Bool && v.Bool():
		return "yes"
	case v.Type() == steps.Bool:
		return "no"
	}
	return v.Text()
}

func ageClass(v steps.Value) string {
	switch {
	case !v.Known():
		return "age unknown: " + v.Why()
	case v.Duration() < 30*time.Minute:
		return "younger than 30 minutes"
	}
	return "older than 30 minutes"
}

// plain replaces what differs from run to run.
func (r *lockRig) plain(text string) string {
	w := r.w
	swap := []string{r.me(), "me@here", "deploy@" + w.env.Host, "deploy@here", w.dir, "<dir>", w.tofu, "tofu"}
	if w.lab != nil {
		swap = append(swap, w.lab.URL(), "<server>", w.suffix(), "<suffix>", w.ns.Name, "<namespace>")
	}
	text = strings.NewReplacer(swap...).Replace(text)
	for _, re := range []struct{ from, to string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "<id>"},
		{`\d{4}-\d\d-\d\dT[0-9:.]+Z`, "<time>"},
		{`net[/_][0-9a-f]{12}`, "net"},
		{`127\.0\.0\.1:\d+`, "<server>"},
		{`\b\d{15,}\b`, "<generation>"},
		{`\b(process|session|plugin|Process|first|Session|pid) \d+`, "$1 <number>"},
		{`\bpg_terminate_backend\(\d+\)`, "pg_terminate_backend(<number>)"},
		{`/\S*/tofu\b`, "tofu"},
		{`wait 30m0s`, "wait <age>"}, // of a lock that was taken this very second
	} {
		text = regexp.MustCompile(re.from).ReplaceAllString(text, re.to)
	}
	return regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?m?s\b`).ReplaceAllStringFunc(text, func(s string) string {
		if s == "30m0s" {
			return s
		}
		return "<age>"
	})
}
