package tui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// tally is a screen as one would be added.
type tally struct {
	n      int
	pasted string
	begun  int // incidents
}

const atTally screen.ID = "tally"

func (y *tally) Press(env *screen.Env, msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "esc" {
		env.Show(screen.AtRun)
	}
	y.n++
	return nil
}
func (y *tally) Paste(_ *screen.Env, s string) tea.Cmd { y.pasted = s; return nil }
func (y *tally) Hear(_ *screen.Env, msg tea.Msg) (tea.Cmd, bool) {
	if _, ok := msg.(screen.Another); ok {
		y.begun++
	}
	return nil, false
}
func (y *tally) Draw(_ *screen.Env, _, _ int) []ink.Drawn { return []ink.Drawn{"what was counted"} }
func (y *tally) Hints(*screen.Env) screen.Hints           { return screen.Hints{Move: "Count one more"} }
func (y *tally) Typing() bool                             { return false }
func (y *tally) line() entry {
	return entry{id: atTally, Screen: y, key: keymap.Command{Name: "tally", At: keymap.OnIncident, Keys: []string{"ctrl+y"}, Short: "tally", Does: "to what was counted"}}
}

// TestOneLineAddsAScreen: a screen costs its own file and its line in the table. Its key opens it and is in the help, the
// palette and the key file; keys and pastes reach it, and it ends as it says.
func TestOneLineAddsAScreen(t *testing.T) {
	t.Parallel()
	s, y := onStage(t, 140, 100, true, ""), &tally{}
	s.screens = append(s.screens, y.line())
	s.Keys = keymap.New(nil, openers(s.screens)...)
	s.press("?")
	s.want(t, "to what was counted")
	s.press("esc", ":")
	s.write("counted")
	s.want(t, "to what was counted")
	s.press("enter")
	if s.At != atTally {
		t.Fatalf("the palette led to %q", s.At)
	}
	s.want(t, "what was counted", "Count one more")
	s.press("x")
	s.Update(tea.PasteMsg{Content: "seven"})
	s.enterIncident(s.bench)
	s.At = atTally
	if y.n != 1 || y.pasted != "seven" || y.begun != 1 {
		t.Errorf("the screen was given %d keys, %q and %d incidents", y.n, y.pasted, y.begun)
	}
	if s.press("esc"); s.At != screen.AtRun {
		t.Errorf("esc led to %q", s.At)
	}
	if s.press("ctrl+y"); s.At != atTally {
		t.Errorf("its key led to %q", s.At)
	}
	if !slices.Contains(keymap.Commands(openers(s.screens)...), "tally") {
		t.Error("a key file cannot name it")
	}
	if err := keymap.CheckKeys(map[string][]string{"tally": {"e"}}, openers(s.screens)...); err == nil {
		t.Error("its key may be one that is taken")
	}
}
