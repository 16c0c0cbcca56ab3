package session_test

import (
	"context"
	"testing"
	"time"

	"handrail/triage"
)

// TestTurningAwayLeavesNoConfirmedGate ends the caller's context in the moment
// after the phrase was taken: the act is decided all the same, and no gate stays
// confirmed without one.
func TestTurningAwayLeavesNoConfirmedGate(t *testing.T) {
	t.Parallel()
	for range rounds(50) {
		st := newStage(t)
		ctx, turnAway := context.WithCancel(t.Context())
		on := make(chan struct{})
		now := st.cfg.Now
		st.cfg.Now = func() time.Time {
			select {
			case <-on:
				turnAway()
			default:
			}
			return now()
		}
		s := st.start(t)
		ready(t, s)
		do(t, s, preview())
		close(on)
		_ = s.Do(ctx, confirm()) // what it answers depends on the moment
		if g := quiet(t, s).State.Gates["test-lock/unlock"]; g.Phase != triage.GateDone && g.Phase != triage.GateIdle {
			t.Fatalf("gate = %s, want done or disarmed", g.Phase)
		}
	}
}
