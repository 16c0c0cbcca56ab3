package session_test

import (
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// TestActPaysTheDebtOfAnother: an act that undoes what an earlier one left owing pays
// that debt and no other, once it is done.
func TestActPaysTheDebtOfAnother(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	other := steps.Debt{Kind: "unfinished", Text: "another run did not finish"}
	st.w.owes = []steps.Debt{{Kind: "unfinished", Text: "the run did not finish"}, other}
	s := st.start(t)
	ready(t, s)
	act := func(result triage.GatePhase) {
		t.Helper()
		if err := s.Do(t.Context(), preview()); err != nil {
			t.Fatal(err)
		}
		if err := s.Do(t.Context(), confirm()); err != nil {
			t.Fatal(err)
		}
		quiet(t, s)
		if g := s.Snapshot().State.Gates[gateID]; g.Phase != result {
			t.Fatalf("gate = %s, %s", g.Phase, g.Response)
		}
	}
	settled := func() (how []string) {
		for _, d := range s.Snapshot().State.Debts {
			how = append(how, d.Settled.How)
		}
		return how
	}
	lock := st.w.lock
	act(triage.GateDone)
	if got := settled(); len(got) != 2 || got[0]+got[1] != "" {
		t.Fatalf("debts after the first act = %q, want two open", got)
	}
	st.w.mu.Lock()
	st.w.lock, st.w.pays, st.w.owes = lock, st.w.owes[:1], []steps.Debt{}
	st.w.mu.Unlock()
	act(triage.GateDone)
	if got := settled(); len(got) != 2 || got[0] != "paid" || got[1] != "" {
		t.Errorf("debts after the second act = %q, want the first paid and the other open", got)
	}
}
