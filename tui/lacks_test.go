package tui

import (
	"strings"
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

// TestBesideTheScreenIsSeen: what a plugin says behind the screen stands below what is said of
// ours, whichever came first; a key takes both away, and one on a sheet over them neither.
func TestBesideTheScreenIsSeen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 18}, {80, 24}, {140, 45}} {
		clock := &clockwork{opened()}
		c := configFixture(clock.now, "")
		c.Open, c.Lacks = newBench(clock.now, ""), "No age recipient is named: gates on targets that hold secrets stay shut."
		s := &stage{clock: clock, model: newModel(t.Context(), c)}
		s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.Update(asideMsg("Code for the lab: No token"))
		s.want(t, "No age recipient is named", "Beside the screen: Code for the lab: No token", "▸ enter  Read all 3")
		s.press("t")
		s.want(t, "esc cancel")
		s.press("x")
		s.press("esc")
		s.want(t, "No age recipient is named", "Beside the screen: Code for the lab: No token")
		s.press("j")
		if text := s.screen(); strings.Contains(text, "No age recipient") || strings.Contains(text, "Beside the screen") {
			t.Errorf("a key took not both away:\n%s", text)
		}
		s.Update(asideMsg("the newest"))
		s.Warn("critical", "It was refused.")
		s.want(t, "Beside the screen: the newest", "It was refused.")
	}
}
