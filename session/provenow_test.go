package session_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"handrail/triage"
)

// TestCloseReadsOldProofsAgain: what was green and is red when the incident is closed
// refuses the close; what is still green is read once, and the close stands on that.
func TestCloseReadsOldProofsAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lock  string
		after time.Duration
		reads int
	}{
		"red since":   {"l-2", 2 * time.Minute, 1},
		"still green": {"", 2 * time.Minute, 1},
		"just read":   {"", 10 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			s := st.start(t)
			ready(t, s)
			do(t, s, preview())
			do(t, s, confirm())
			for range 2 {
				st.clk.forward(20 * time.Second)
				do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/free"})
			}
			do(t, s, triage.Intent{Kind: triage.DoSettle, Debt: triage.Settle{Debt: "unfinished", How: "carried", Owner: "platform", Until: "2026-12-01"}})
			before, _ := s.Snapshot().State.Step("test-lock/free")
			st.w.mu.Lock()
			st.w.lock = tc.lock // another run may have taken it since
			st.w.mu.Unlock()
			st.clk.forward(tc.after)
			err := s.Do(t.Context(), triage.Intent{Kind: triage.DoClose, Value: "recovered", Text: "done"})
			after, _ := s.Snapshot().State.Step("test-lock/free")
			if after.Attempts-before.Attempts != tc.reads {
				t.Errorf("%d reads, want %d", after.Attempts-before.Attempts, tc.reads)
			}
			var r *triage.Refused
			switch outcome := s.Snapshot().State.Outcome; {
			case tc.lock == "" && (err != nil || outcome != "recovered"):
				t.Errorf("close = %v, outcome %q", err, outcome)
			case tc.lock != "" && (!errors.As(err, &r) || !strings.Contains(err.Error(), "test-lock/free") || outcome != ""):
				t.Errorf("close over a red proof = %v, outcome %q, want a refusal that names it", err, outcome)
			}
		})
	}
}
