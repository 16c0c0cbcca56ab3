package view

import (
	"slices"
	"testing"

	"handrail/triage"
)

// TestNoGateNamesWhatAppliesFirst: where a gate applies and stays shut, why it does is said,
// and the conditions of those that do not apply are not.
func TestNoGateNamesWhatAppliesFirst(t *testing.T) {
	t.Parallel()
	gate := func(id string) triage.Step {
		return triage.Step{PlanStep: triage.PlanStep{ID: id, Title: id, Phase: triage.Recover, Kind: triage.GateStep, Class: triage.Repair}, Status: triage.Pending}
	}
	snap := func(shut bool) Snapshot {
		s := Snapshot{Cards: map[string]Card{"x/a": {Aside: "only where the moon is full"}, "x/c": {Aside: "only at noon"}}}
		for _, id := range []string{"x/a", "x/b", "x/c"} {
			s.State.Steps = append(s.State.Steps, gate(id))
		}
		s.Options = []triage.Option{
			{Kind: triage.DoPreview, Step: "x/a", Aside: true}, {Kind: triage.DoPreview, Step: "x/b", Aside: !shut, Refusals: []triage.Refusal{{Why: "no list was given"}}},
			{Kind: triage.DoPreview, Step: "x/c", Aside: true}, {Kind: triage.DoSkip, Step: "x/b", Recommended: true},
		}
		return s
	}
	head, got, none := snap(true).NoGate()
	if want := []string{"x/b: no list was given", "Not needed here, or passed over: x/a; x/c"}; !none || head != "The gate of the repair is shut." || !slices.Equal(got, want) {
		t.Errorf("one stays shut: %q, %q, %v, want %q", head, got, none, want)
	}
	head, got, none = snap(false).NoGate()
	if want := []string{"x/a: only where the moon is full", "x/b: it does not apply", "x/c: only at noon"}; !none || head != "No gate of this runbook serves the repair." || !slices.Equal(got, want) {
		t.Errorf("none applies: %q, %q, %v, want %q", head, got, none, want)
	}
}
