package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
)

// BenchmarkFirstFrame is the command centre from nothing to its first picture.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		m := newModel(b.Context(), configFixture(opened, ""))
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		m.View()
	}
}

// BenchmarkKey is one key and the frame after it. What it costs must not depend
// on how long the incident already is.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{0, 10_000, 100_000} {
		for screen, keys := range map[string][]string{"run": {"down", "up"}, "evidence": {"e", "up", "down"}} {
			b.Run(fmt.Sprintf("%s/entries=%d", screen, n), func(b *testing.B) {
				inc := newBench(opened, "")
				for range n {
					inc.record(triage.Note{Text: "still watching"})
				}
				c := configFixture(opened, "")
				c.Open = inc
				m := newModel(b.Context(), c)
				m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
				if len(keys) > 2 { // the first one opens the screen
					m.Update(keyPress(keys[0]))
				}
				move := keys[len(keys)-2:]
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					m.Update(keyPress(move[i%2]))
					m.View()
				}
			})
		}
	}
}
