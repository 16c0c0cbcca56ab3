package terraform

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

func logFactsOf(t testing.TB, in string) steps.Observation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	obs, err := probe(t.Context(), steps.Env{}, "terraform/log", steps.Params{"file": steps.PathOf(file)}, newSink())
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

// boxed is an error as the tools print it.
func boxed(address string, lines ...string) string {
	out := "╷\n│ Error: " + strings.Join(lines, "\n│ ") + "\n"
	if address != "" {
		out += "│ \n│   with " + address + ",\n│   on main.tf line 1, in resource \"t\" \"a\":\n"
	}
	return out + "╵\n"
}

func TestLogErrors(t *testing.T) {
	t.Parallel()
	for class, in := range map[string]string{
		classExists:       boxed("t.a", "creating thing: EntityAlreadyExists: Role with", "name x already exists."),
		classThrottle:     boxed("t.a", "waiting for thing: operation error: ThrottlingException: Rate", "exceeded"),
		classTimeout:      boxed("t.a", "creating thing: context deadline exceeded"),
		classInconsistent: boxed("t.a", "Provider produced inconsistent result after apply"),
		classCrash:        boxed("t.a", "Plugin did not respond", "", "The plugin encountered an error"),
		classCredentials:  boxed("t.a", "https response error StatusCode: 403, AccessDenied"),
		classDependency:   boxed("t.a", "deleting thing: DependencyViolation: has a dependent object"),
		classNotFound:     boxed("t.a", "reading thing: couldn't find resource"),
		classTyping:       boxed("t.a", "Unsupported argument"),
		classPrevented:    boxed("t.a", "Instance cannot be destroyed"),
		classOther:        boxed("t.a", "something new"),
		classLock:         boxed("", "Error acquiring the state lock", "", "Error message: state file is corrupt"),
		classStale:        boxed("", "Saved plan is stale"),
	} {
		obs := logFactsOf(t, "t.a: Creating...\n"+in)
		if got := obs.Facts["errors"].Table(); len(got) != 1 || got[class] != "1" {
			t.Errorf("%s: errors = %v", class, got)
		}
		json := fmt.Sprintf(`{"type":"diagnostic","@message":"Error: x","diagnostic":{"severity":"error","summary":%q,"detail":"","address":"t.a"}}`, strings.Join(strings.Fields(strings.NewReplacer("│", "", "╷", "", "╵", "", "Error: ", "").Replace(in)), " "))
		if got := logFactsOf(t, json).Facts["errors"].Table(); got[class] != "1" {
			t.Errorf("%s as JSON: errors = %v", class, got)
		}
	}
}

func TestLogEndings(t *testing.T) {
	t.Parallel()
	creating := "t.a: Creating...\n"
	for _, tc := range []struct{ in, ending, say string }{
		{creating, "cut", "SIGHUP"},
		{creating + "\nInterrupt received.\nPlease wait\n", "interrupted", ""},
		{creating + "\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n", "interrupted-twice", "sends both by itself"},
		{creating + "!!!!!!!!!!!!!!!!!!!!!!!!!!! OPENTOFU CRASH !!!!!!!!!!!!!!!!!!!!!!!!!!!!\npanic: boom\n", "panicked", "panicked"},
		{creating + boxed("t.a", "boom"), "failed", ""},
		{creating + boxed("", "Failed to save state", "", "Error saving state: 500") + boxed("", "Failed to persist state to backend", "", "saved to errored.tfstate"), "failed", "errored.tfstate"},
		{creating + "t.a: Creation complete after 1s [id=1]\n" + boxed("", "Error releasing the state lock"), "failed", "somebody unlocked a live run"},
		{"2026-01-02T03:04:05.1234567Z t.a: Creating...\n2026-01-02T03:04:06.1234567Z t.a: Creation complete after 1s [id=1]\n2026-01-02T03:04:06.2234567Z \n2026-01-02T03:04:06Z Apply complete! Resources: 1 added, 0 changed, 0 destroyed.\n", "finished", ""},
	} {
		obs := logFactsOf(t, tc.in)
		if obs.Facts["ending"].Text() != tc.ending || !said(obs, tc.say) && tc.say != "" {
			t.Errorf("%q: ending %s, %v; want %s", tc.in, obs.Facts["ending"].Text(), obs.Findings, tc.ending)
		}
	}
}

func TestHungProvider(t *testing.T) {
	t.Parallel()
	line := func(minutes int) string {
		return fmt.Sprintf("t.a: Still destroying... [id=x, %dm0s elapsed]\n", minutes)
	}
	hung := "t.a: Destroying... [id=x]\n"
	for m := 1; m <= 12; m++ {
		hung += line(m)
	}
	if f := logFactsOf(t, hung).Facts; !f["hung"].Bool() || f["waiting"].Table()["t.a"] != "12m0s" || f["longest_wait"].Duration().Minutes() != 12 {
		t.Errorf("hung = %v", f)
	}
	if f := logFactsOf(t, hung+"t.a: Destruction complete after 12m30s\n").Facts; f["hung"].Bool() || len(f["waiting"].Table()) > 0 {
		t.Errorf("slow but done = %v", f)
	}
	if f := logFactsOf(t, hung+"t.b: Destroying...\n").Facts; f["hung"].Bool() {
		t.Errorf("another began = %v", f)
	}
	json := ""
	for s := 10; s <= 700; s += 10 {
		json += fmt.Sprintf(`{"type":"apply_progress","@message":"t.a: Still destroying...","hook":{"resource":{"addr":"t.a"},"action":"delete","elapsed_seconds":%d}}`+"\n", s)
	}
	start := `{"type":"apply_start","@message":"t.a: Destroying...","hook":{"resource":{"addr":"t.a"},"action":"delete"}}` + "\n"
	if f := logFactsOf(t, start+json).Facts; !f["hung"].Bool() {
		t.Errorf("hung as JSON = %v", f)
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
	if f := logFactsOf(t, "$ tofu apply -no-color -input=false p\n"+applied).Facts; !f["whole"].Bool() || f["started"].Int() != 1 || f["ending"].Text() != "finished" {
		t.Errorf("applied = %v\n%s", f, applied)
	}
	for _, form := range [][]string{{"-no-color"}, {}, {"-json"}} {
		args := append(append([]string{"apply"}, form...), "-input=false", "p")
		out := run(args...)
		f := logFactsOf(t, "$ tofu "+strings.Join(args, " ")+"\n"+out).Facts
		if n := f["started"]; !n.Known() || n.Int() != 0 || !f["whole"].Bool() || f["errors"].Table()[classStale] != "1" || f["ending"].Text() != "failed" {
			t.Errorf("refused %v = %v\n%s", form, f, out)
		}
		if f := logFactsOf(t, out).Facts; f["started"].Known() && len(form) > 0 && form[0] != "-json" {
			t.Errorf("%v without the command proves that nothing began", form)
		}
		if f := logFactsOf(t, applied+"$ tofu apply p\n"+out).Facts; f["started"].Int() != 1 {
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
				cut := logFactsOf(t, string(out[:i])).Facts
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
