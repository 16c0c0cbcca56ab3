package session_test

import (
	"testing"

	"handrail/session/journal"
	"handrail/triage"
)

// An act either begins before Close and is waited for, or never begins.
func TestCloseDuringTheReReadLeavesNoActBehind(t *testing.T) {
	t.Parallel()
	for n := range rounds(60) {
		st := newStage(t)
		s := armed(t, st)
		path := s.Snapshot().Bundle
		closed := make(chan error, 1)
		st.w.onRead = func(read int, _ *world) {
			if read == 2 {
				go func() { closed <- s.Close() }()
			}
		}
		confirmed := make(chan error, 1)
		go func() { confirmed <- s.Do(t.Context(), confirm()) }()
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		state, err := journal.LoadState(path)
		if err != nil {
			t.Fatal(err)
		}
		if p := state.Gates[gateID].Phase; p == triage.GateActing {
			t.Fatalf("run %d: Close returned while the act was going on", n)
		}
		<-confirmed
	}
}
