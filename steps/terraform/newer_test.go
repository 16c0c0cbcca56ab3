package terraform

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

// TestPlanNamesWhatANewerProviderRecorded raises the schema version of two recorded
// objects: each program refuses the plan and names both, whatever it wraps, and a
// plan that can be made names none.
func TestPlanNamesWhatANewerProviderRecorded(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		w := newWorldOf(t, program, "local", `
resource "terraform_data" "sound" {}
resource "terraform_data" "raised" {
  for_each = toset(["a key with blanks in it that is longer than a line of the output would ever be", "b"])
}
`)
		w.run("apply", "-auto-approve", "-input=false")
		if f := w.probe("terraform/plan", nil).Facts; !f["too_new"].Known() || len(f["too_new"].Strings()) != 0 {
			t.Errorf("of a plan that could be made: %v", f["too_new"])
		}
		state := w.text("terraform.tfstate")
		at := strings.Index(state, `"raised"`)
		w.lay("terraform.tfstate", state[:at]+strings.ReplaceAll(state[at:strings.Index(state, `"sound"`)], `"schema_version": 0`, `"schema_version": 7`)+state[strings.Index(state, `"sound"`):])
		want := []string{`terraform_data.raised["a key with blanks in it that is longer than a line of the output would ever be"]`, `terraform_data.raised["b"]`}
		for _, in := range []steps.Params{nil, {"refresh": steps.BoolOf(false)}} {
			obs := w.probe("terraform/plan", in)
			if f := obs.Facts; !slices.Equal(f["too_new"].Strings(), want) || f["exit"].Int() != 1 || f["clean"].Known() {
				t.Errorf("%v: too_new %v, exit %v, clean %v; %v", in, f["too_new"], f["exit"], f["clean"], obs.Findings)
			}
		}
	})
}
