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

// TestProposalNeedsNoOtherChoice: enter agrees to a proposal once it was in sight with its reason
// and its facts. What else could be said is read on for only where nothing is proposed.
func TestProposalNeedsNoOtherChoice(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	var many []Choice
	for i := range 30 {
		many = append(many, Choice{Value: string(ink.Say("choice-%d", i)), Help: "another"})
	}
	for name, tc := range map[string]struct {
		stands, typed string
		facts         int
		once          bool
	}{
		"proposed":                  {stands: "choice-3", once: true},
		"proposed on many facts":    {stands: "choice-3", facts: 40},
		"nothing is proposed":       {},
		"something else is written": {stands: "choice-3", typed: "choice-4: it was seen"},
	} {
		row := Row{Ask: "What is first?", Stands: ink.Shown(tc.stands), Why: []ink.Text{"so it is"}, Values: many}
		for i := range tc.facts {
			row.Shows = append(row.Shows, ink.Pair{Key: ink.Say("fact %d", i), Value: "seen"})
		}
		f := &Form{Title: "Say these", Fields: []Field{Asked("first", "first", row, nil), Asked("second", "second", Row{Ask: "What is second?"}, nil)}}
		f.Fields[0].Edit.Set(tc.typed)
		f.Draw(&th, 60, 20)
		f.Press(press("enter"))
		if f.at == 1 != tc.once {
			t.Errorf("%s: enter leads to line %d", name, f.at)
		}
	}
}

// TestNumberPicksBeforeTheWords: the number of a value begins an empty line with the value
// itself, and is a digit like any other elsewhere.
func TestNumberPicksBeforeTheWords(t *testing.T) {
	t.Parallel()
	values := []Choice{{Value: "none"}, {Value: "exists"}}
	f := &Form{Fields: []Field{Asked("looked", "looked", Row{Ask: "Does it exist?", Values: values}, nil), Asked("free", "free", Row{Ask: "Why?"}, nil)}}
	f.AtOpen()
	for _, key := range []string{"2", "2", "!"} {
		f.Press(press(key))
	}
	if got := f.Fields[0].Edit.Value(); got != "exists 2!" {
		t.Errorf("the line is %q", got)
	}
	if value, words, ok := Begun(values, f.Fields[0].value()); value != "exists" || words != "2!" || !ok {
		t.Errorf("it says %q, %q, %v", value, words, ok)
	}
	f.Fields[0].Edit.Set("")
	if f.Press(press("3")); f.Fields[0].Edit.Value() != "3" {
		t.Errorf("a number of no value begins %q", f.Fields[0].Edit.Value())
	}
}
