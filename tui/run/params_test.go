package run

import (
	"testing"

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
