package run

import (
	"testing"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
)

// TestParametersOfAGateBeginAtItsOwn: the sheet begins at the parameter that says what the gate does, not at the one that
// names what every step reads.
func TestParametersOfAGateBeginAtItsOwn(t *testing.T) {
	t.Parallel()
	r := Screen{Case: &incident.Case{}}
	gate := triage.PlanStep{ID: "a/repair", Kind: triage.GateStep, Params: []string{"name", "namespace", "patch"}}
	r.Snap.State.Plans = []triage.Plan{{Runbook: "a", Steps: []triage.PlanStep{
		{ID: "a/read", Kind: triage.ProbeStep, Params: []string{"name", "namespace"}}, gate,
		{ID: "a/pause", Kind: triage.GateStep, Params: []string{"namespace"}}}}}
	for _, tc := range []struct {
		step triage.PlanStep
		want string
	}{
		{gate, "patch"},
		{triage.PlanStep{Kind: triage.ProbeStep, Params: []string{"name"}}, ""},
		{triage.PlanStep{Kind: triage.GateStep}, ""},
	} {
		if got := r.ownParam(triage.Step{PlanStep: tc.step}); got != tc.want {
			t.Errorf("%s begins at %q, want %q", tc.step.ID, got, tc.want)
		}
	}
}

// TestArrowsLeaveWhatIsNotNeeded: the arrows choose among the answers of a question, and walk past one that is not needed.
func TestArrowsLeaveWhatIsNotNeeded(t *testing.T) {
	t.Parallel()
	for aside, want := range map[string]string{"": "a/hook", "no hook ran": "a/next"} {
		r := Screen{Case: &incident.Case{}, Focus: "a/hook", choice: -1}
		ask := triage.PlanStep{ID: "a/hook", Kind: triage.AskStep, Phase: triage.Recover, Answers: []string{"changed", "gone"}}
		next := triage.PlanStep{ID: "a/next", Kind: triage.GateStep, Phase: triage.Recover}
		r.Snap.State.Steps = []triage.Step{{PlanStep: ask, Status: triage.Pending}, {PlanStep: next, Status: triage.Pending}}
		r.Snap.Cards = map[string]view.Card{"a/hook": {Aside: aside}}
		if r.arrow(1); r.Focus != want || (r.choice >= 0) != (aside == "") {
			t.Errorf("aside %q: at %s with choice %d, want %s", aside, r.Focus, r.choice, want)
		}
	}
}
