package runlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func logFactsOf(t testing.TB, in string) steps.Observation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	obs, err := stepstest.Observe(t.Context(), Probe{steps.Env{}}, Facts(), steps.Params{"file": steps.PathOf(file)}, stepstest.NewSink())
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
		{creating + "t.a: Creation complete after 1s [id=1]\n" + boxed("", "Error releasing the state lock"), "failed", "a live run was unlocked"},
		{"2026-01-02T03:04:05.1234567Z t.a: Creating...\n2026-01-02T03:04:06.1234567Z t.a: Creation complete after 1s [id=1]\n2026-01-02T03:04:06.2234567Z \n2026-01-02T03:04:06Z Apply complete! Resources: 1 added, 0 changed, 0 destroyed.\n", "finished", ""},
	} {
		obs := logFactsOf(t, tc.in)
		if obs.Facts["ending"].Text() != tc.ending || !findsIn(obs, tc.say) && tc.say != "" {
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

func findsIn(obs steps.Observation, text string) bool {
	for _, f := range obs.Findings {
		if strings.Contains(f.Say, text) {
			return true
		}
	}
	return false
}
