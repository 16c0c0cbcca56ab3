package holder

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// recordedState is the shortest sound state.
const recordedState = `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{},"resources":[],"check_results":null}`

// rootModule makes a directory with a local state, so that no init is needed.
func rootModule(t *testing.T) (string, steps.Env) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "terraform.tfstate"), []byte(recordedState), 0o600); err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return dir, steps.Env{Dir: dir, User: me.Username, Host: "this-machine", Now: time.Now}
}

func backendFile(t *testing.T, dir, suffix string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"version":3,"backend":{"type":"kubernetes","config":{"secret_suffix":"` + suffix + `"}}}`
	if err := os.WriteFile(filepath.Join(dir, ".terraform", "terraform.tfstate"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func holderOf(t *testing.T, env steps.Env, who string, created time.Time) steps.Observation {
	t.Helper()
	in := steps.Params{}
	if who != "" {
		in["who"] = steps.StringOf(who)
	}
	if !created.IsZero() {
		in["created"] = steps.TimeOf(created)
	}
	obs, err := stepstest.Observe(t.Context(), Probe{env}, Facts(), in, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

func TestHolder(t *testing.T) {
	t.Parallel()
	future := time.Now().Add(time.Hour)
	for _, tc := range []struct {
		name    string
		start   func(t *testing.T, dir string)
		host    string
		created time.Time
		alive   string // or part of the reason of unknown, after a ?
		procs   int64
		orphans int64
	}{
		{"no process", func(*testing.T, string) {}, "this-machine", future, "dead", 0, 0},
		{"host in capitals", func(*testing.T, string) {}, "THIS-machine", future, "dead", 0, 0},
		{"tofu", func(t *testing.T, dir string) { block(t, dir, "tofu", "apply") }, "this-machine", future, "alive", 1, 0},
		{"versioned terraform", func(t *testing.T, dir string) { block(t, dir, "/opt/terraform-1.5.7") }, "this-machine", future, "alive", 1, 0},
		{"language server", func(t *testing.T, dir string) { block(t, dir, "terraform-ls") }, "this-machine", future, "dead", 0, 0},
		{"below the directory", func(t *testing.T, dir string) {
			sub := filepath.Join(dir, "sub")
			_ = os.Mkdir(sub, 0o700)
			block(t, sub, "tofu")
		}, "this-machine", future, "alive", 1, 0},
		{"by chdir", func(t *testing.T, dir string) { block(t, filepath.Dir(dir), "tofu", "-chdir="+dir) }, "this-machine", future, "alive", 1, 0},
		{"elsewhere", func(t *testing.T, dir string) { block(t, t.TempDir(), "tofu") }, "this-machine", future, "dead", 0, 0},
		{"elsewhere on the same state", func(t *testing.T, dir string) {
			other := t.TempDir()
			backendFile(t, dir, "one-"+filepath.Base(dir))
			backendFile(t, other, "one-"+filepath.Base(dir))
			block(t, other, "tofu")
		}, "this-machine", future, "alive", 1, 0},
		{"elsewhere on another state", func(t *testing.T, dir string) {
			other := t.TempDir()
			backendFile(t, dir, "one")
			backendFile(t, other, "two")
			block(t, other, "tofu")
		}, "this-machine", future, "dead", 0, 0},
		{"orphaned plugin", func(t *testing.T, dir string) { block(t, dir, "terraform-provider-x_v1") }, "this-machine", future, "?plugin", 0, 1},
		{"started later", func(t *testing.T, dir string) { block(t, dir, "tofu") }, "this-machine", time.Now().Add(-time.Hour), "?started after", 0, 0},
		{"another machine", func(t *testing.T, dir string) { block(t, dir, "tofu") }, "other", future, "?another machine", 1, 0},
		{"no host", func(*testing.T, string) {}, "", future, "?no lock names a holder", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir, env := rootModule(t)
			tc.start(t, dir)
			who := ""
			if tc.host != "" {
				who = env.User + "@" + tc.host
			}
			obs := holderOf(t, env, who, tc.created)
			got := obs.Facts["alive"]
			if reason, ok := strings.CutPrefix(tc.alive, "?"); ok {
				if got.Known() || !strings.Contains(got.Why(), reason) {
					t.Errorf("alive = %s (%s), want unknown for %q", got.Text(), got.Why(), reason)
				}
			} else if got.Text() != tc.alive {
				t.Errorf("alive = %s (%s), want %s", got.Text(), got.Why(), tc.alive)
			}
			if p, o := obs.Facts["processes"].Int(), obs.Facts["orphans"].Int(); p != tc.procs || o != tc.orphans {
				t.Errorf("processes = %d, orphans = %d, want %d and %d: %v", p, o, tc.procs, tc.orphans, obs.Findings)
			}
			if n := int64(len(obs.Facts["pids"].Strings())); n != tc.procs+tc.orphans {
				t.Errorf("%d pids, want %d", n, tc.procs+tc.orphans)
			}
		})
	}
}

// TestNoLockNamesAHolder: where no lock is held nothing is said of one, and what is here of
// a run is the summary; nothing is left unchecked by that.
func TestNoLockNamesAHolder(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":  {nil, "No run is at work on this machine, and none left a process behind."},
		"a run":    {[]string{"tofu", "apply"}, "A run is at work on this machine: process"},
		"a plugin": {[]string{"terraform-provider-x_v1"}, "No run is at work on this machine, and one that is gone left a process behind."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := rootModule(t)
			if len(tc.args) > 0 {
				block(t, dir, tc.args...)
			}
			obs := holderOf(t, env, "", time.Time{})
			if !strings.HasPrefix(obs.Summary, tc.want) || len(obs.Gaps) > 0 {
				t.Errorf("summary %q, gaps %q, want %q and none", obs.Summary, obs.Gaps, tc.want)
			}
		})
	}
}

func TestHolderWithoutProcessTable(t *testing.T) {
	t.Parallel()
	_, env := rootModule(t)
	env.Proc = t.TempDir()
	if _, err := stepstest.Observe(t.Context(), Probe{env}, Facts(), nil, stepstest.NewSink()); err == nil {
		t.Error("an empty process table says that nobody is alive")
	}
}

func TestBlind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, pid, uts, pod string
		blind               bool
	}{
		{"machine", initialPID, initialUTS, "", false},
		{"container", "pid:[4026532001]", "uts:[4026532000]", "", false},
		{"container with the name of the host", "pid:[4026532001]", initialUTS, "", true},
		{"pod", "pid:[4026532001]", "uts:[4026532000]", "KUBERNETES_SERVICE_HOST=10.0.0.1", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			ns := filepath.Join(root, "self", "ns")
			if err := os.MkdirAll(ns, 0o700); err != nil {
				t.Fatal(err)
			}
			for name, to := range map[string]string{"pid": tc.pid, "uts": tc.uts} {
				if err := os.Symlink(to, filepath.Join(ns, name)); err != nil {
					t.Fatal(err)
				}
			}
			if got := (procTable{root: root}).blind(steps.Env{Environ: []string{tc.pod}}); (got != "") != tc.blind {
				t.Errorf("blind() = %q, want blind %v", got, tc.blind)
			}
		})
	}
	for option, want := range map[string]bool{"rw,relatime": false, "rw,hidepid=0": false, "rw,hidepid=off": false, "rw,hidepid=2,gid=5": true, "hidepid=invisible": true} {
		if got := hidesPID(option); got != want {
			t.Errorf("hidesPID(%q) = %v, want %v", option, got, want)
		}
	}
}

func TestShortArgs(t *testing.T) {
	t.Parallel()
	p := Process{argv: []string{"tofu", "apply", "-var", "pw=s3cret", "-var=pw=s3cret", "--backend-config=token=s3cret", "-var-file=a.tfvars"}}
	if got, want := shortArgs(p), "tofu apply -var ... -var=... --backend-config=... -var-file=a.tfvars"; got != want {
		t.Errorf("shortArgs() = %q, want %q", got, want)
	}
}
