package session_test

import (
	"errors"
	"testing"
	"time"

	"handrail/session/replay"
	"handrail/steps"
	"handrail/triage"
)

// TestRefusedUntilIsRecorded: until when a gate is refused stands in the journal as a
// time, is shown by the session and by a replay, and once it is over the gate is
// offered again.
func TestRefusedUntilIsRecorded(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	for _, o := range s.Snapshot().Options { // what else the loop would ask before the gate
		if o.Kind == triage.DoConclude && o.Step != "" || o.Kind == triage.DoAnswer {
			st, _ := s.Snapshot().State.Step(o.Step)
			if st.Status == triage.Pending {
				do(t, s, triage.Intent{Kind: triage.DoSkip, Step: o.Step, Text: "not asked here"})
			}
		}
	}
	opens := st.clk.Now().Add(5 * time.Minute).UTC()
	st.w.mu.Lock()
	st.w.unmet = []steps.Need{{Why: "the lock is 2m old", Cure: "wait", At: opens}}
	st.w.mu.Unlock()
	var no *triage.Refused
	if err := s.Do(t.Context(), preview()); !errors.As(err, &no) || !no.Refusals[0].At.Equal(opens) {
		t.Fatalf("Do(preview) = %+v, want it refused until %s", err, opens)
	}
	snap := quiet(t, s)
	if g := snap.State.Gates["test-lock/unlock"]; !g.Opens.Equal(opens) || snap.Gate == nil || !snap.Gate.Refusals[0].At.Equal(opens) {
		t.Errorf("opens = %s, gate = %+v", g.Opens, snap.Gate)
	}
	offered := func() bool {
		do(t, s, triage.Intent{Kind: triage.DoNote, Text: "a moment later"})
		for _, o := range s.Snapshot().Options {
			if o.Recommended {
				return o.Kind == triage.DoPreview
			}
		}
		return false
	}
	if offered() {
		t.Error("it is offered while only time keeps it shut")
	}
	st.clk.forward(5 * time.Minute)
	if !offered() {
		t.Error("it is not offered once its time has come")
	}
	tape, err := replay.Open(snap.Bundle, looking(st.cfg))
	if err != nil {
		t.Fatal(err)
	}
	tape.Go(1 << 30)
	if g := tape.Snapshot().Gate; g == nil || len(g.Refusals) != 1 || !g.Refusals[0].At.Equal(opens) {
		t.Errorf("a replay shows %+v", g)
	}
}
