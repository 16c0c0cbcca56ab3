package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

const gateID = "test-lock/unlock"

// armed walks to the armed gate.
func armed(t *testing.T, st *stage) *session.Session {
	t.Helper()
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	return s
}

// What may change while the target is read again, although the target itself
// stays as it was shown.
func TestNothingActsWhenTheLawsTurnDuringTheReRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		before time.Duration // between the evidence and the preview
		turn   func(*stage)  // while the target is read again
		want   string
	}{
		{"evidence grows stale", 13 * time.Minute, func(st *stage) { st.clk.forward(3 * time.Minute) }, "more than 15m"},
		{"the preview expires", 0, func(st *stage) { st.clk.forward(6 * time.Minute) }, "expired"},
		{"an owner resumes", 0, func(st *stage) { st.w.owners = []steps.Owner{{Name: "argocd", Paused: "no"}} }, "argocd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t)
			st.w.owners = []steps.Owner{{Name: "argocd", Paused: "yes"}}
			s := st.start(t)
			ready(t, s)
			st.clk.forward(tc.before)
			do(t, s, preview())
			st.w.onRead = func(n int, _ *world) {
				if n == 2 {
					tc.turn(st)
				}
			}
			err := s.Do(t.Context(), confirm())
			snap := quiet(t, s)
			var r *triage.Refused
			if g := snap.State.Gates[gateID]; st.w.acts != 0 || !errors.As(err, &r) || g.Phase != triage.GateIdle || !strings.Contains(g.Why, tc.want) {
				t.Fatalf("confirm = %v, %d acts, gate %q %q; want it disarmed for %q", err, st.w.acts, g.Phase, g.Why, tc.want)
			}
		})
	}
}

// A waiver that opened the gate holds for the re-read too.
func TestWaivedOwnerStaysWaivedAtTheReRead(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.w.owners = []steps.Owner{{Name: "argocd", Paused: "unknown"}}
	s := armed(t, st)
	do(t, s, triage.Intent{Kind: triage.DoWaive, Law: 12, Step: "argocd", Person: "platform on-call", Text: "it is scaled to zero"})
	do(t, s, confirm())
	if st.w.acts != 1 {
		t.Fatalf("acts = %d, want 1", st.w.acts)
	}
}

// TestARefusalShowsWhatTimeClosed: nothing happened since the snapshot, and what it offered grew too old. The refusal
// brings one of now.
func TestARefusalShowsWhatTimeClosed(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	offered := func() bool {
		return slices.ContainsFunc(s.Snapshot().Options, func(o triage.Option) bool { return o.Kind == triage.DoPreview && o.Step == gateID && o.Available() })
	}
	if !offered() {
		t.Fatal("the gate is not offered")
	}
	st.clk.forward(16 * time.Minute)
	var no *triage.Refused
	if err := s.Do(t.Context(), preview()); !errors.As(err, &no) {
		t.Fatalf("the preview = %v", err)
	}
	if offered() {
		t.Error("it still offers the gate that it refused")
	}
}
