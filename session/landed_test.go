package session_test

import (
	"testing"

	"handrail/session/view"
	"handrail/triage"
)

// A caller that waits until nothing runs sees all that follows from the end: debts
// after an act, proposals after a read.
func TestNothingIsAtRestBeforeWhatFollowsIsThere(t *testing.T) {
	t.Parallel()
	for range rounds(30) {
		st := newStage(t)
		s := st.start(t)
		ready(t, s)
		do(t, s, preview())
		done := make(chan view.Snapshot, 1)
		go func() {
			for {
				snap := s.Snapshot()
				if len(snap.Running) == 0 && snap.State.Gates[gateID].Phase == triage.GateDone {
					done <- snap
					return
				}
			}
		}()
		if err := s.Do(t.Context(), confirm()); err != nil {
			t.Fatal(err)
		}
		if snap := <-done; len(snap.State.Debts) != 1 {
			t.Fatal("the act is over and its debt is not there")
		}
	}
}
