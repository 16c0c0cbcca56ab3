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

// TestFindingsAreAnsweredBeforeTheClose: enter and the close ask for the same answers on
// one sheet, and send each with its very text; a line left empty is asked again.
func TestFindingsAreAnsweredBeforeTheClose(t *testing.T) {
	t.Parallel()
	unfinished := triage.FindingAnswer{Step: id("log"), Finding: "The run completed 2 operations and never finished.", How: triage.Resolved, Why: "b"}
	lock := triage.FindingAnswer{Step: id("log"), Finding: "Its lock was gone when it ended.", How: triage.Taken, Person: "ana", Why: "tomorrow"}
	for _, way := range [][]string{{"enter"}, {"c", "1", "enter", "enter"}} {
		for _, c := range []struct {
			keys []string
			want []triage.FindingAnswer
		}{
			{[]string{"b", "enter", "@", "a", "n", "a", ":", " ", "t", "o", "m", "o", "r", "r", "o", "w", "enter"}, []triage.FindingAnswer{unfinished, lock}},
			{[]string{"b", "enter", "enter"}, []triage.FindingAnswer{unfinished}},
		} {
			s := onStage(t, 100, 32, true, "")
			s.toUntold()
			s.want(t, "Before the close: what became of what log found")
			s.press(way...)
			s.want(t, "Before the close: what was found and not answered", "never finished", "Its lock was gone", "who takes it")
			s.press("enter", "enter")
			s.want(t, "Say how it was resolved, or who takes it.")
			s.press("@", "enter", "enter")
			s.want(t, "Name who takes it after the @.")
			s.press("backspace")
			s.press(c.keys...)
			var got []triage.FindingAnswer
			for _, in := range s.bench.sent {
				if in.Kind != triage.DoResolve {
					t.Errorf("sent %+v", in)
				}
				got = append(got, in.Finding)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("sent %+v\nwant %+v\n%s", got, c.want, s.screen())
			}
		}
	}
}
