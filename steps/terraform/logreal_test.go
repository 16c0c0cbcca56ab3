package terraform

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestRefusalOfRealTofu reads the log of an apply that refuses a stale plan: it is
// a proof that nothing began only where it shows the command, too.
func TestRefusalOfRealTofu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", `resource "terraform_data" "a" {}`)
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), w.tofu, args...)
		cmd.Dir, cmd.Env = w.dir, w.bot
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	run("plan", "-out=p", "-input=false")
	applied := run("apply", "-no-color", "-input=false", "p")
	if f := logOfRun(t, "$ tofu apply -no-color -input=false p\n"+applied).Facts; !f["whole"].Bool() || f["started"].Int() != 1 || f["ending"].Text() != "finished" {
		t.Errorf("applied = %v\n%s", f, applied)
	}
	for _, form := range [][]string{{"-no-color"}, {}, {"-json"}} {
		args := append(append([]string{"apply"}, form...), "-input=false", "p")
		out := run(args...)
		f := logOfRun(t, "$ tofu "+strings.Join(args, " ")+"\n"+out).Facts
		if n := f["started"]; !n.Known() || n.Int() != 0 || !f["whole"].Bool() || f["errors"].Table()["stale-plan"] != "1" || f["ending"].Text() != "failed" {
			t.Errorf("refused %v = %v\n%s", form, f, out)
		}
		if f := logOfRun(t, out).Facts; f["started"].Known() && len(form) > 0 && form[0] != "-json" {
			t.Errorf("%v without the command proves that nothing began", form)
		}
		if f := logOfRun(t, applied+"$ tofu apply p\n"+out).Facts; f["started"].Int() != 1 {
			t.Errorf("%v after a first attempt = %v", form, f["started"])
		}
	}
}

// TestLogsOfRealTofu reads the logs of a real apply that fails, in both forms,
// whole and cut at every line and in the middle of each.
func TestLogsOfRealTofu(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"human":   {"apply", "-auto-approve", "-input=false", "-no-color"},
		"colours": {"apply", "-auto-approve", "-input=false"},
		"json":    {"apply", "-auto-approve", "-input=false", "-json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "local", failingUnit)
			cmd := exec.CommandContext(t.Context(), w.tofu, args...)
			cmd.Dir, cmd.Env = w.dir, w.bot
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the apply did not fail:\n%s", out)
			}
			if err := os.WriteFile(filepath.Join(w.dir, "run.log"), out, 0o600); err != nil {
				t.Fatal(err)
			}
			obs := w.probe("terraform/log", steps.Params{"file": fileParam("run.log")})
			f := obs.Facts
			want := map[string]string{"terraform_data.done": "complete", "terraform_data.broken": "failed", "terraform_data.later": "not-started"}
			got := f["operations"].Table()
			for a, how := range want {
				if got[a] != how {
					t.Errorf("operations[%s] = %q, want %q", a, got[a], how)
				}
			}
			if !f["whole"].Bool() || f["runs"].Int() != 1 || f["ending"].Text() != "failed" || f["planned"].Int() != 3 || !slices.Equal(f["never_started"].Strings(), []string{"terraform_data.later"}) || !slices.Equal(f["exists"].Strings(), []string{"terraform_data.broken"}) {
				t.Errorf("log = %v\n%s", f, out)
			}
			for i := 0; i < len(out); i += 7 {
				cut := logOfRun(t, string(out[:i])).Facts
				if cut["finished"].Bool() || cut["completed"].Int() > f["completed"].Int() || len(cut["in_flight"].Strings())+len(cut["failed_addresses"].Strings()) > 1 {
					t.Fatalf("cut at %d: %v", i, cut)
				}
				if never := cut["never_started"]; never.Known() && !bytes.Contains(out[:i], []byte("to add")) {
					t.Fatalf("cut at %d: %v were never started, before the plan was whole", i, never.Strings())
				}
			}
		})
	}
}

const failingUnit = `
resource "terraform_data" "done" {}
resource "terraform_data" "broken" {
  depends_on = [terraform_data.done]
  provisioner "local-exec" { command = "echo thing already exists >&2; false" }
}
resource "terraform_data" "later" { depends_on = [terraform_data.broken] }
`

// readLog reads a log as the probe does.
func logOfRun(t testing.TB, in string) steps.Observation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	obs, err := probe(t.Context(), steps.Env{}, "terraform/log", steps.Params{"file": steps.PathOf(file)}, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	return obs
}
