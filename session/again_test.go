package session_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"handrail/session"
	"handrail/session/view"
	"handrail/triage"
)

// until waits for a snapshot that is as it should be.
func until(t *testing.T, s *session.Session, is func(view.Snapshot) bool) view.Snapshot {
	t.Helper()
	for {
		if snap := s.Snapshot(); is(snap) {
			return snap
		}
		select {
		case <-s.Changed():
		case <-t.Context().Done():
			t.Fatal("it never came to that")
		}
	}
}

func lookedAt(snap view.Snapshot) bool { return snap.State.Gates[gateID].AgainSeq > 0 }

func TestTargetIsReadAgainAfterTheAct(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		turn          func(*world) // before it is read again
		outcome, said string
		debts         int
	}{
		{"it holds", func(*world) {}, triage.Holds, "the lock is free", 1},
		{"it was undone", func(w *world) { w.lock, w.secret = "b", "hunter2-hunter2" }, triage.Undone, "somebody took the lock again ", 2},
		{"it cannot be read", func(w *world) { w.previewFails = errors.New("the server is gone") }, triage.Unknown, "the server is gone", 1},
		{"it panics", func(*world) { panic("a bug in a gate") }, triage.Unknown, "a bug in a gate", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			st.w.again, st.w.onAgain = time.Millisecond, tc.turn
			s := armed(t, st)
			do(t, s, confirm())
			snap := until(t, s, func(snap view.Snapshot) bool {
				return snap.State.Gates[gateID].AgainSeq > 0 && len(snap.State.Debts) >= tc.debts
			})
			g := snap.State.Gates[gateID]
			if g.Again.Outcome != tc.outcome || !strings.Contains(g.Again.Response, tc.said) || strings.Contains(g.Again.Response, "hunter2") {
				t.Errorf("it %s: %q, want %s: %q", g.Again.Outcome, g.Again.Response, tc.outcome, tc.said)
			}
			if len(snap.State.Debts) != tc.debts || len(snap.State.Rereads) != 0 {
				t.Errorf("debts %+v, still to read %+v", snap.State.Debts, snap.State.Rereads)
			}
		})
	}
}

// TestCloseWaitsUntilTheTargetWasReadAgain: and what one session owes, the next
// one does.
func TestCloseWaitsUntilTheTargetWasReadAgain(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.again = time.Hour
	s := armed(t, st)
	do(t, s, confirm())
	var refused *triage.Refused
	err := s.Do(t.Context(), triage.Intent{Kind: triage.DoClose, Value: "recovered"})
	if !errors.As(err, &refused) || !strings.Contains(refused.Error(), "is read again at") {
		t.Errorf("closing early: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st.clk.forward(2 * time.Hour)
	next, err := session.Resume(t.Context(), st.cfg, s.Snapshot().Bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close() // the journal is read below
	if g := until(t, next, lookedAt).State.Gates[gateID]; g.Again.Outcome != triage.Holds {
		t.Errorf("the next session saw %+v", g.Again)
	}
}
