package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
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
	s.beat() // as Init does; the test does not wait for it
	if got := s.ticker.every; got != resting {
		t.Fatalf("an idle incident is drawn each %v, want %v", got, resting)
	}
	slow := s.ticker.n
	s.run.Snap.Running = []view.Running{{Step: id("lock"), Started: s.Now}}
	if s.hurry(nil) == nil || s.ticker.every != counting || s.ticker.n == slow {
		t.Fatalf("a read that runs is drawn each %v", s.ticker.every)
	}
	if s.ticked(tickMsg{slow}) != nil {
		t.Error("the tick that was overtaken goes on beside the other")
	}
	if s.ticked(tickMsg{s.ticker.n}) == nil {
		t.Error("the clock stops")
	}
}

// After fg the size is asked for: no signal tells a stopped program of a new one.
func TestResumeAsksForTheSize(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	_, cmd := s.Update(tea.ResumeMsg{})
	batch, ok := cmd().(tea.BatchMsg)
	if !ok || len(batch) != 2 || batch[0]() != tea.RequestWindowSize() {
		t.Errorf("fg asks for no size: %T", cmd())
	}
}
