package tui

import (
	"testing"
	"time"

	"handrail/session"
)

// TestPace: what is counted in seconds is drawn each second, and an idle screen
// seldom; a tick that was overtaken starts no other.
func TestPace(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	if got := s.pace(); got != counting {
		t.Errorf("an incident that has just begun is drawn each %v", got)
	}
	s.pass(2 * time.Minute)
	s.Now = s.readClock()
	s.beat() // as Init does; nobody waits for it here
	if got := s.heart.every; got != resting {
		t.Fatalf("an idle incident is drawn each %v, want %v", got, resting)
	}
	slow := s.heart.n
	s.run.Snap.Running = []session.Running{{Step: id("lock"), Started: s.Now}}
	if s.hurry(nil) == nil || s.heart.every != counting || s.heart.n == slow {
		t.Fatalf("a read that runs is drawn each %v", s.heart.every)
	}
	if s.ticked(tickMsg{slow}) != nil {
		t.Error("the tick that was overtaken goes on beside the other")
	}
	if s.ticked(tickMsg{s.heart.n}) == nil {
		t.Error("the clock stops")
	}
}
