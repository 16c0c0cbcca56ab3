package tui

import (
	"slices"
	"testing"

	"handrail/triage"
)

// toUntold is an incident that may close as recovered but for what a step found.
func (s *stage) toUntold() {
	st := &s.run.Snap.State
	st.Steps = slices.Clone(st.Steps)
	for i := range st.Steps {
		x := &st.Steps[i]
		x.Status, x.Findings = triage.Settled, nil
		if x.Kind == triage.GateStep {
			x.Status = triage.Skipped
		}
		if x.Kind == triage.AskStep && len(x.PlanStep.Green) > 0 {
			x.Answer = x.PlanStep.Green[0]
		}
		if x.ID == id("log") {
			x.Findings = []triage.Finding{{Level: "critical", Say: "The run completed 2 operations and never finished."}, {Level: "critical", Say: "Its lock was gone when it ended."}}
		}
	}
	st.Gates, st.Debts, st.Rereads = map[string]triage.GateState{}, nil, nil
	st.Topics = map[triage.Topic]triage.Conclusion{
		triage.TopicMutation: {Value: "yes"}, triage.TopicClass: {Value: "LiveStateDiverged"}, triage.TopicConsistent: {Value: "yes"},
	}
	s.run.Snap.Options = triage.Options(*st, st.Updated, func(string) []triage.Verdict { return []triage.Verdict{{Result: "true"}} })
	s.run.Front(id("log"))
	s.run.Decide()
}

// TestFindingIsAnsweredBeforeTheClose: enter and the close ask for the same answer, list
// what else waits for one, and send the very text.
func TestFindingIsAnsweredBeforeTheClose(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"enter"}, {"c", "1", "enter", "enter"}} {
		s := onStage(t, 100, 32, true, "")
		s.toUntold()
		s.want(t, "Before the close: what became of what log found")
		s.press(keys...)
		s.want(t, "Before the close: what log found", "never finished", "then: log found: Its lock was gone")
		s.press("enter")
		s.want(t, "Say how it was resolved, or who takes it.")
		s.press("down", "a", "enter")
		if len(s.bench.sent) != 1 {
			t.Fatalf("sent %+v\n%s", s.bench.sent, s.screen())
		}
		want := triage.FindingAnswer{Step: id("log"), Finding: "The run completed 2 operations and never finished.", How: triage.Taken, Person: "a"}
		again := onStage(t, 100, 32, true, "")
		again.toUntold()
		again.press("enter", "b", "enter")
		if got := again.bench.sent; len(got) != 1 || got[0].Finding.How != triage.Resolved || got[0].Finding.Why != "b" {
			t.Errorf("sent %+v", got)
		}
		if got := s.bench.sent[0]; got.Kind != triage.DoResolve || got.Finding != want {
			t.Errorf("sent %+v", got)
		}
	}
}
