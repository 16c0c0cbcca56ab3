package tui

import (
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// TestBackground takes the terminal's answer about its background: the colours
// change, the words do not.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	assumed := s.View().Content
	s.Update(tea.BackgroundColorMsg{Color: color.White})
	light := s.View().Content
	s.Update(tea.BackgroundColorMsg{Color: color.Black})
	dark := s.View().Content
	if assumed == dark || assumed == light || light == dark {
		t.Error("a background that is not known, a light and a dark one do not differ")
	}
	if ansi.Strip(light) != ansi.Strip(dark) || ansi.Strip(light) != ansi.Strip(assumed) {
		t.Error("the background changes words")
	}
}
