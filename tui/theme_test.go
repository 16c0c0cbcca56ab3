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
	if assumed != dark {
		t.Error("without an answer the screen is not the dark one")
	}
	if light == dark {
		t.Error("a light background changes nothing")
	}
	if ansi.Strip(light) != ansi.Strip(dark) {
		t.Error("the background changes words")
	}
}
