package form

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
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

// TestEnterReadsByTheScreen: what is proposed for many lines comes by the screen, not line by line,
// and nothing is sent before each was in sight with its reason and what it stands on.
func TestEnterReadsByTheScreen(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	for _, h := range []int{9, 14, 21, 60} {
		f, sent := &Form{Title: "Say these", Submit: func(map[string]string) tea.Cmd { return nil }}, false
		for i := range 12 {
			f.Fields = append(f.Fields, Asked(string(ink.Say("line%d", i)), ink.Say("line%d", i), Row{Ask: ink.Say("Ask %d?", i), Stands: "yes",
				Why: []ink.Text{ink.Say("reason %d.", i)}, On: []ink.Text{ink.Say("fact %d.", i)}, Values: []Choice{{Value: "yes"}, {Value: "no"}}}, nil))
		}
		f.AtOpen()
		seen, keys := "", 0
		for ; !sent && keys < 40; keys++ {
			rows, _ := f.Draw(&th, 60, h)
			if len(rows) > h {
				t.Fatalf("%d lines in %d", len(rows), h)
			}
			again, _ := f.Draw(&th, 60, h) // a frame is drawn more than once
			if !slices.Equal(rows, again) {
				t.Fatalf("at %d lines the screen moves by itself", h)
			}
			for _, r := range rows {
				seen += ansi.Strip(string(r)) + "\n"
			}
			_, sent = f.Press(press("enter"))
		}
		for i := range 12 {
			if reason, fact := string(ink.Say("reason %d.", i)), string(ink.Say("fact %d.", i)); !strings.Contains(seen, reason) || !strings.Contains(seen, fact) {
				t.Errorf("at %d lines %s was sent unseen", h, reason)
			}
		}
		if most := 1 + 12*3/max(1, h-7); keys > most {
			t.Errorf("at %d lines it takes %d keys, at most %d", h, keys, most)
		}
	}
}

// TestChoicesStayWhole: the number of a choice and its word are on one line.
func TestChoicesStayWhole(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	var many []Choice
	for i := range 9 {
		many = append(many, Choice{Value: string(ink.Say("choice-of-%d", i*i*i))})
	}
	for w := 50; w < 120; w++ {
		f := &Form{Title: "Say these", Fields: []Field{Asked("first", "first", Row{Ask: "What?", Stands: "choice-of-8", Values: many}, nil)}}
		rows, _ := f.Draw(&th, w, 24)
		text := ""
		for _, r := range rows {
			text += ansi.Strip(string(r)) + "\n"
		}
		for i, c := range many {
			if !strings.Contains(text, string(ink.Say("%d %s", i+1, c.Value))) {
				t.Fatalf("at %d cells choice %d is broken:\n%s", w, i+1, text)
			}
		}
	}
}
