package tui

import (
	"slices"
	"testing"

	"handrail/triage"
)

// toUnserved is a call at its repair whose gate was refused, also after all was read again.
func (s *stage) toUnserved() {
	st := &s.run.Snap.State
	st.Steps = slices.Clone(st.Steps)
	for i := range st.Steps {
		if x := &st.Steps[i]; x.Phase != triage.Verify && x.Kind != triage.GateStep {
			x.Status, x.Findings, x.Attempts = triage.Settled, nil, 2
		}
	}
	st.Gates = map[string]triage.GateState{id("unlock"): {Step: id("unlock"), WasRefused: true, Why: "The backend tells no lock.", ClosedSeq: st.Seq}}
	st.Topics = map[triage.Topic]triage.Conclusion{
		triage.TopicMutation: {Value: "yes"}, triage.TopicClass: {Value: "LiveStateDiverged"}, triage.TopicConsistent: {Value: "no"},
	}
	s.run.Snap.Options = triage.Options(*st, st.Updated, func(string) []triage.Verdict { return []triage.Verdict{{Result: "true"}} })
	s.run.Front(id("unlock"))
	s.run.Decide()
}

// TestUnservedRepairIsSaidAndRecorded: the screen says at once that no gate serves, and
// its key asks for all that is recorded of a repair by hand.
func TestUnservedRepairIsSaidAndRecorded(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toUnserved()
	s.want(t, "The gate of the repair is shut.", "The backend tells no lock.", "recorded with M")
	s.press("M")
	s.want(t, "Repaired by hand", "shown by")
	s.press("w", "enter", "o", "enter", "p", "enter", "1", "enter", "enter")
	if len(s.bench.sent) != 1 {
		t.Fatalf("sent %+v", s.bench.sent)
	}
	got, proof := s.bench.sent[0], id("lock") // what the gate in front stands on
	if want := (triage.HandAct{What: "w", Object: "o", Person: "p", Proof: proof}); got.Kind != triage.DoHand || got.Hand != want {
		t.Errorf("sent %+v, want %+v", got.Hand, want)
	}
}

// TestHandRepairOffersTheReadInFront: of many reads the one in front comes first.
func TestHandRepairOffersTheReadInFront(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toUnserved()
	shows := s.run.Snap.State.Shows()
	front := shows[len(shows)-1].ID
	s.run.Front(front)
	s.press("M", "w", "enter", "o", "enter", "p", "enter", "1", "enter", "enter")
	if len(s.bench.sent) != 1 || s.bench.sent[0].Hand.Proof != front {
		t.Errorf("sent %+v, want %s as the first choice", s.bench.sent, front)
	}
}
