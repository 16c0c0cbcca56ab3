package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// threeThings is a unit whose parts can be renamed and changed.
const threeThings = `
resource "terraform_data" "a" { input = "one" }
resource "terraform_data" "b" { input = "two" }
resource "terraform_data" "c" {
  count = 2
  input = { n = count.index, secret = sensitive("hunter2-hunter2") }
}
`

func (w *world) lay(name, text string) string {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// keepState copies the recorded state aside.
func (w *world) keepState(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.lay(name, string(b))
}

func fileParam(s string) steps.Value { return steps.PathOf(s) }

// TestStateForensicsOfRealTofu follows a state through what people do to it.
func TestStateForensicsOfRealTofu(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", threeThings)
	w.run("apply", "-auto-approve", "-input=false")
	first := w.keepState("first.copy")

	obs := w.probe("terraform/state", nil)
	if f := obs.Facts; f["condition"].Text() != "sound" || f["resources"].Int() != 4 || f["tainted"].Int() != 0 || f["product"].Text() != "unclear" || f["types"].Table()["terraform_data"] != "4" {
		t.Errorf("state = %v", f)
	}
	if n := obs.Facts["sensitive"].Int(); n == 0 {
		t.Errorf("the state marks %d values as sensitive: %v", n, obs.Facts["sensitive_paths"])
	}

	// A move and a change by hand.
	w.run("state", "mv", "terraform_data.a", "terraform_data.renamed")
	w.run("taint", "terraform_data.b")
	obs = w.probe("terraform/state", nil)
	if got := obs.Facts["marked"].Strings(); len(got) != 1 || got[0] != "tainted terraform_data.b" {
		t.Errorf("marked = %v", got)
	}
	obs = w.probe("terraform/state-diff", steps.Params{"before": fileParam(first)})
	f := obs.Facts
	if f["moves"].Table()["terraform_data.a"] != "terraform_data.renamed" || f["missing"].Int() != 0 || f["changed"].Int() != 1 || f["serial_after"].Int() <= f["serial_before"].Int() || f["collision"].Bool() {
		t.Errorf("after mv and taint = %v", f)
	}

	// What `state rm` forgets is missing, and its backup is found.
	w.run("state", "rm", "terraform_data.c[1]")
	obs = w.probe("terraform/state-diff", steps.Params{"before": fileParam(first)})
	if got := obs.Facts["missing_addresses"].Strings(); len(got) != 1 || got[0] != "terraform_data.c[1]" {
		t.Errorf("missing = %v", got)
	}
	obs = w.probe("terraform/state-files", nil)
	if f := obs.Facts; f["errored"].Bool() || len(f["backups"].Strings()) < 2 || !f["newest_backup"].Known() || f["racing"].Bool() {
		t.Errorf("files = %v", f)
	}

	// Two writers: the same serial with another content.
	raw, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	other := w.lay("other.copy", strings.Replace(string(raw), `"two"`, `"three"`, 1))
	obs = w.probe("terraform/state-diff", steps.Params{"before": fileParam(first), "after": fileParam(other)})
	if f := obs.Facts; !f["collision"].Bool() || f["changed_attributes"].Table()["terraform_data.b"] == "" || !said(obs, "a plan on either passes") {
		t.Errorf("collision = %v %v", f, obs.Findings)
	}
}

func said(obs steps.Observation, text string) bool {
	for _, f := range obs.Findings {
		if strings.Contains(f.Say, text) {
			return true
		}
	}
	return false
}

// TestErroredState: what a failed save leaves is related to what is recorded.
func TestErroredState(t *testing.T) {
	t.Parallel()
	state := func(serial, lineage string) string {
		return `{"version":4,"serial":` + serial + `,"lineage":"` + lineage + `","resources":[]}`
	}
	for _, tc := range []struct{ name, errored, fits, say string }{
		{"tofu", state("7", "l"), "next", "plus 2"},
		{"terraform", state("6", "l"), "next", "plus 1"},
		{"overtaken", state("5", "l"), "overtaken", "it was written since"},
		{"other", state("7", "m"), "other-lineage", "another state"},
		{"encrypted", `{"serial":7,"lineage":"l","encrypted_data":"x","encryption_version":"v0"}`, "encrypted", "refuses such a file"},
		{"cut", state("7", "l")[:20], "broken", "cut off"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"terraform.tfstate": state("5", "l"), "errored.tfstate": tc.errored} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		obs, err := probe(t.Context(), steps.Env{Dir: dir}, "terraform/state-files", nil, stepstest.NewSink())
		if err != nil || obs.Facts["errored_fits"].Text() != tc.fits || !obs.Facts["errored"].Bool() || !said(obs, tc.say) {
			t.Errorf("%s: %v %v, %v", tc.name, obs.Facts, obs.Findings, err)
		}
	}
}
