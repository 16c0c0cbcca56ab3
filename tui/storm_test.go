package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// TestStorm sends keys, pastes, ticks and sizes at random to an incident and to the command centre: every frame fills the
// terminal and nothing more, the cursor is on it, and one that is too small says so and takes no key.
func TestStorm(t *testing.T) {
	t.Parallel()
	keys := strings.Fields("enter esc up down left right pgup pgdown tab home end backspace ? : / q n d c i x S t w p A U e f g b s a o r u y k j G 1 2 3 z N Y [ ] 0 R X v V > ctrl+o ctrl+n ctrl+t")
	rapid.Check(t, func(r *rapid.T) {
		hostile := rapid.SampledFrom([]string{"", " 支付\U0001F525", "\x1b]0;x\a\u202e", " עברית"}).Draw(r, "text")
		s := onStage(t, 80, 24, rapid.Bool().Draw(r, "incident"), hostile)
		if s.bench != nil && rapid.Bool().Draw(r, "viewing") {
			s.bench.holds(strings.Repeat("line\twith"+attack+"支付\r\n", rapid.IntRange(0, 300).Draw(r, "lines")) + strings.Repeat("e\u0301支\x00", rapid.SampledFrom([]int{0, 20_000}).Draw(r, "long")))
			s.toEvidence()
			s.press("enter", "enter")
		} else if s.bench != nil && rapid.Bool().Draw(r, "reading") {
			s.toReads()
			if rapid.Bool().Draw(r, "live") {
				s.press("v")
			}
		}
		for range rapid.IntRange(1, 40).Draw(r, "moves") {
			small := s.small()
			before := s.At
			switch rapid.IntRange(0, 9).Draw(r, "kind") {
			case 0, 1, 2:
				s.Update(tea.WindowSizeMsg{Width: rapid.IntRange(0, 220).Draw(r, "w"), Height: rapid.IntRange(0, 70).Draw(r, "h")})
			case 3:
				s.Update(tea.PasteMsg{Content: rapid.StringN(0, 200, -1).Draw(r, "paste")})
			case 4:
				s.pass(time.Duration(rapid.IntRange(0, 600).Draw(r, "seconds")) * time.Second)
				s.Update(tickMsg{s.ticker.n})
			default:
				_, cmd := s.Update(keyPress(rapid.SampledFrom(keys).Draw(r, "key")))
				if small && s.At != before {
					r.Fatalf("a key did something on a terminal of %dx%d", s.W, s.H)
				}
				s.settle(cmd)
			}
			v := s.View()
			if s.W == 0 || s.H == 0 {
				continue
			}
			rows := strings.Split(v.Content, "\n")
			if len(rows) != s.H {
				r.Fatalf("%d rows on a terminal of %dx%d", len(rows), s.W, s.H)
			}
			for n, row := range rows {
				if w := ansi.StringWidth(row); w > s.W {
					r.Fatalf("row %d is %d wide on a terminal of %dx%d: %q", n, w, s.W, s.H, row)
				}
			}
			if c := v.Cursor; c != nil && (c.X < 0 || c.Y < 0 || c.X >= s.W || c.Y >= s.H) {
				r.Fatalf("the cursor is at %d,%d on a terminal of %dx%d", c.X, c.Y, s.W, s.H)
			}
			if s.small() && s.W > 20 && s.H > 5 && !strings.Contains(ansi.Strip(v.Content), "ctrl+c leaves") {
				r.Fatalf("a terminal of %dx%d is not told that it is too small", s.W, s.H)
			}
		}
	})
}
