package form

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"handrail/tui/ink"
)

// TestLineInFrontStaysInSight: a question that is longer than the screen keeps the line on which it
// is answered in sight, and enter shows every line of it before it goes on.
func TestLineInFrontStaysInSight(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	for _, h := range []int{9, 14, 24} {
		var says []ink.Text
		for i := range 40 {
			says = append(says, ink.Say("fact %d.", i))
		}
		f := &Form{Title: "Say these", Fields: []Field{Asked("first", "first", Row{Ask: "What is first?", Says: says}, nil), Asked("second", "second", Row{Ask: "What is second?"}, nil)}}
		f.AtOpen()
		seen := map[string]bool{}
		for range 60 {
			rows, cur := f.Draw(&th, 60, h)
			if f.at == 1 {
				break
			}
			text := ""
			for _, r := range rows {
				line := ansi.Strip(string(r))
				text += line + "\n"
				seen[strings.TrimSpace(line)] = true
			}
			if len(rows) > h || !strings.Contains(text, "▸ first") || cur == nil || !strings.Contains(ansi.Strip(string(rows[cur.Y])), "▸ first") {
				t.Fatalf("at %d lines, the cursor at %v:\n%s", h, cur, text)
			}
			f.Press(press("enter"))
		}
		for i := range 40 {
			if name := string(ink.Say("fact %d.", i)); !seen[name] {
				t.Errorf("at %d lines, %q was never in sight", h, name)
			}
		}
		if f.at != 1 {
			t.Errorf("at %d lines, enter never came to the second line", h)
		}
	}
}
