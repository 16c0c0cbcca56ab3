package form

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

func press(key string) tea.KeyPressMsg {
	switch key {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown}
	case "pgup":
		return tea.KeyPressMsg{Code: tea.KeyPgUp}
	}
	return tea.KeyPressMsg{Code: rune(key[0]), Text: key}
}

// TestWholeIsSeenBeforeItIsSent: what a person agrees to begins with its first line, and enter
// reads on until the last was in sight, however fast it is pressed.
func TestWholeIsSeenBeforeItIsSent(t *testing.T) {
	t.Parallel()
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	for _, h := range []int{8, 12, 20, 60} {
		sent := false
		f := &Form{Title: "May it?", Whole: true, Fields: []Field{OneOf("a", "it", []Choice{{Value: "yes"}, {Value: "no"}})},
			Submit: func(map[string]string) tea.Cmd { sent = true; return nil }}
		for i := range 40 {
			f.Intro = append(f.Intro, ink.Say("line %d.", i))
		}
		seen := map[string]bool{}
		look := func() {
			rows, _ := f.Draw(&th, 60, h)
			if len(rows) > h {
				t.Fatalf("%d lines in %d", len(rows), h)
			}
			for i := range 40 {
				name := string(ink.Say("line %d.", i))
				for _, r := range rows {
					seen[name] = seen[name] || strings.Contains(string(r), name)
				}
			}
		}
		look()
		if !seen["line 0."] {
			t.Errorf("height %d does not begin with the first line", h)
		}
		f.Press(press("1"))
		for presses := 0; !sent && presses < 200; presses++ {
			look()
			f.Press(press("enter"))
			if !sent && presses%3 == 0 { // faster than it is drawn
				f.Press(press("enter"))
			}
		}
		if !sent || len(seen) != 40 {
			t.Fatalf("height %d: sent %t, %d names", h, sent, len(seen))
		}
		for name, ok := range seen {
			if !ok {
				t.Errorf("height %d: %s was never in sight", h, name)
			}
		}
		f.Press(press("pgup"))
		look()
		f.Press(press("pgdown"))
		look()
	}
}

// TestNumberInASentenceChoosesNothing: words typed where only a choice is taken do not change it.
func TestNumberInASentenceChoosesNothing(t *testing.T) {
	t.Parallel()
	f := &Form{Fields: []Field{OneOf("a", "it", []Choice{{Value: "yes"}, {Value: "no"}, {Value: "unknown"}}), Named("why", "why", "", false)}}
	for _, tc := range []struct {
		keys string
		want int
	}{{"1", 0}, {"all 3 of 2", 0}, {"2", 0}, {"\b2", 1}, {"x3", 1}} {
		for _, k := range tc.keys {
			key := press(string(k))
			if k == '\b' {
				key = tea.KeyPressMsg{Code: tea.KeyBackspace}
			}
			f.Press(key)
		}
		if got := f.Fields[0].Pick; got != tc.want {
			t.Errorf("after %q choice %d stands, want %d", tc.keys, got, tc.want)
		}
	}
	f.Press(press("tab"))
	f.Press(tea.KeyPressMsg{Code: tea.KeyUp})
	if f.Press(press("1")); f.Fields[0].Pick != 0 {
		t.Error("back on the line, a number chooses nothing")
	}
}

// TestTabGoesToTheNextLine: down moves inside a choice, tab leaves it as it is.
func TestTabGoesToTheNextLine(t *testing.T) {
	t.Parallel()
	f := &Form{Fields: []Field{OneOf("a", "it", []Choice{{Value: "x"}, {Value: "y"}, {Value: "z"}}), OneOf("b", "it", []Choice{{Value: "x"}, {Value: "y"}})}}
	for _, key := range []string{"1", "down", "tab", "1", "tab", "shift+tab", "tab", "tab"} {
		f.Press(press(key))
	}
	if f.at != 1 || f.Fields[0].Pick != 1 || f.Fields[1].Pick != 0 {
		t.Errorf("line %d, picks %d and %d", f.at, f.Fields[0].Pick, f.Fields[1].Pick)
	}
}

// TestComplaintIsInSight: what is wrong with a line stands above the keys, however many
// lines a choice has.
func TestComplaintIsInSight(t *testing.T) {
	t.Parallel()
	var long []Choice
	for range 12 {
		long = append(long, Choice{Value: "reverting-fixes/step", Help: "what it reads"})
	}
	f := &Form{Title: "Repaired by hand", Fields: []Field{OneOf("by", "shown by", long), Named("shows", "it shows", "optional", false)}}
	f.Press(press("enter"))
	th := ink.NewTheme(ink.ThemeMono, ink.DarkGround)
	rows, _ := f.Draw(&th, 80, 14)
	var all strings.Builder
	for _, r := range rows {
		all.WriteString(string(r) + "\n")
	}
	if !strings.Contains(all.String(), "Choose one") {
		t.Errorf("enter on a choice without a pick says nothing\n%s", all.String())
	}
}
