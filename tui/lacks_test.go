package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestWhatIsLackedIsSaidFirst: what an incident will need and is not set up stands on its first
// screen, and keeps nothing from being done.
func TestWhatIsLackedIsSaidFirst(t *testing.T) {
	t.Parallel()
	clock := &clockwork{opened()}
	c := configFixture(clock.now, "")
	c.Open, c.Lacks = newBench(clock.now, ""), "No age recipient is named: gates on targets that hold secrets stay shut."
	s := &stage{clock: clock, model: newModel(t.Context(), c)}
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.want(t, "No age recipient is named", "▸ enter  Read all 3")
	s.press("enter")
	if len(s.run.Snap.State.Steps) == 0 || s.run.Steps()[0].Attempts != 1 {
		t.Error("it kept the first reads from beginning")
	}
}
