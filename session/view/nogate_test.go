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
	got, none := snap(true).NoGate()
	if want := []string{"x/b: no list was given", "Not needed here, or passed over: x/a; x/c"}; !none || !slices.Equal(got, want) {
		t.Errorf("one stays shut: %q, %v, want %q", got, none, want)
	}
	got, none = snap(false).NoGate()
	if want := []string{"x/a: only where the moon is full", "x/b: it does not apply", "x/c: only at noon"}; !none || !slices.Equal(got, want) {
		t.Errorf("none applies: %q, %v, want %q", got, none, want)
	}
}
