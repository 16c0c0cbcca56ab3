package plan

import (
	"testing"

	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

// TestMovesOfThePlan tells what a plan moves itself, as a moved block asks for,
// from what was moved since by others.
func TestMovesOfThePlan(t *testing.T) {
	t.Parallel()
	moved := tfplan.Change{Address: "terraform_data.new", Previous: "terraform_data.old"}
	stays := tfplan.Change{Address: "terraform_data.stays"}
	for name, c := range map[string]struct {
		changes []tfplan.Change
		moves   []tfstate.Move
		want    int
	}{
		"nothing moved":     {[]tfplan.Change{stays}, nil, 0},
		"the plan moves it": {[]tfplan.Change{moved, stays}, []tfstate.Move{{From: "terraform_data.new", To: "terraform_data.old"}}, 1},
		"moved back":        {[]tfplan.Change{moved}, []tfstate.Move{{From: "terraform_data.old", To: "terraform_data.new"}}, 0},
		"another moved":     {[]tfplan.Change{moved}, []tfstate.Move{{From: "terraform_data.stays", To: "terraform_data.gone"}}, 0},
		"moved elsewhere":   {[]tfplan.Change{moved}, []tfstate.Move{{From: "terraform_data.new", To: "terraform_data.gone"}}, 0},
		"both":              {[]tfplan.Change{moved}, []tfstate.Move{{From: "terraform_data.new", To: "terraform_data.old"}, {From: "terraform_data.a", To: "terraform_data.b"}}, 1},
	} {
		b := bindingRun{saved: &tfplan.Saved{Doc: &tfplan.Doc{Changes: c.changes}}}
		if got := b.planned(&tfstate.Diff{MovedList: c.moves}); got != c.want {
			t.Errorf("%s: %d of the moves are the plan's own, want %d", name, got, c.want)
		}
	}
}
