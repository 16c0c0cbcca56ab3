package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/tui/gate"
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// TestEveryKeyIsListed: each binding of the key map stands in the table once, so that help, palette and key file know it,
// and its first key is one that a terminal can send.
func TestEveryKeyIsListed(t *testing.T) {
	t.Parallel()
	k := keymap.New(nil)
	names := map[string]bool{}
	for _, c := range k.Commands() {
		if names[c.Name] || c.Does == "" || c.Short == "" || len(c.Keys) == 0 {
			t.Errorf("command %q: twice, or without words or keys", c.Name)
		}
		names[c.Name] = true
		for _, key := range c.Keys {
			if got := keymap.KeyFor(key).String(); got != key {
				t.Errorf("%s: key %q is sent as %q", c.Name, key, got)
			}
		}
	}
	if err := keymap.CheckKeys(nil); err != nil {
		t.Errorf("the keys as they come: %v", err)
	}
	s := onStage(t, 140, 100, true, "")
	s.press("?")
	for _, c := range k.Commands() {
		if c.At != keymap.OnQuestion {
			s.want(t, c.Does)
		}
	}
}

func TestCheckKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change map[string][]string
		err    string
	}{
		"fine":          {map[string][]string{"note": {"N", "ctrl+g"}, "reload": {"f5"}}, ""},
		"swapped":       {map[string][]string{"note": {"e"}, "evidence": {"t"}}, ""},
		"unknown":       {map[string][]string{"notes": {"t"}}, `no command "notes"`},
		"taken":         {map[string][]string{"note": {"e"}}, `"evidence" and "note"`},
		"other screen":  {map[string][]string{"reload": {"u"}}, ""},
		"everywhere":    {map[string][]string{"reload": {"q"}}, `"leave" and "reload"`},
		"a digit":       {map[string][]string{"note": {"1"}}, "digits"},
		"none":          {map[string][]string{"note": {}}, "no key"},
		"a blank":       {map[string][]string{"note": {" "}}, "not a valid key"},
		"must be found": {map[string][]string{"abort": {"x"}}, "cannot be changed"},
	} {
		err := keymap.CheckKeys(tt.change)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
	}
}

// TestChangedKey moves the note to another key: the old one is free, the footer, the help and the palette say the new one.
func TestChangedKey(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Keys = keymap.New(map[string][]string{"note": {"N"}})
	s.want(t, "N note")
	if s.press("t"); s.Sheet != nil {
		t.Error("the old key still works")
	}
	if s.press("N"); s.Sheet == nil {
		t.Fatal("the new key does nothing")
	}
	s.press("esc")
	s.press(":")
	s.write("note for")
	s.want(t, "note for the timeline", "N")
}

// TestPalette finds a command, a step and a theme by their words, and puts itself away.
func TestPalette(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press(":")
	s.want(t, "Commands", "enter run")
	s.write("severity")
	s.press("enter")
	if s.palette != nil || s.Sheet == nil {
		t.Fatal("the command was not done")
	}
	s.press("esc")
	s.press(":")
	s.write("step holder:")
	s.press("enter")
	if got := s.run.Focus; got != id("holder") {
		t.Errorf("went to %s", got)
	}
	s.Update(keymap.KeyFor("ctrl+k"))
	s.write("theme mono")
	s.press("enter")
	if s.Config.Theme != ink.ThemeMono {
		t.Errorf("the theme is %q", s.Config.Theme)
	}
	s.press(":")
	s.write("no such words")
	s.want(t, "No match")
	s.press("enter")
	s.press(":", "backspace")
	if s.palette != nil {
		t.Error("backspace on an empty line does not put it away")
	}
	s.press(":")
	s.Update(tea.PasteMsg{Content: "evidence,\nwith"})
	s.press("enter")
	if s.At != screen.AtEvidence {
		t.Error("a pasted search finds nothing")
	}
	s.press(":")
	s.write("settle")
	s.press("enter")
	if s.At != screen.AtRun {
		t.Error("a command of the incident stays on the evidence screen")
	}
}

// TestPaletteIsNotInFrontOfAGate: a gate takes every key, so that nothing can slip between a person and its phrase.
func TestPaletteIsNotInFrontOfAGate(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toGate()
	s.pass(gate.Grace * 2)
	s.press(":")
	if s.palette != nil || s.gate == nil {
		t.Error("the palette opened over a gate")
	}
}

// TestNarrowHome keeps the rows that have every word, and acts on none that is hidden.
func TestNarrowHome(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toHome()
	s.press("/")
	s.write("partial")
	s.want(t, "/ partial", "partial-apply", "no match", "Start an incident with partial-apply")
	if strings.Contains(s.screen(), "state-lock  ") {
		t.Error("a row without the word is shown")
	}
	s.write("x")
	s.press("down", "up", "enter")
	s.press("enter")
	s.want(t, "No match")
	s.press("esc")
	s.want(t, "state-lock")
	s.press("end", "k", "G", "home", "pgdown", "pgup")
	if s.home.At != 0 {
		t.Errorf("at row %d", s.home.At)
	}
}

// TestSuspend stops the program on ctrl+z, and not while an act runs: it would stop with it.
func TestSuspend(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	_, cmd := s.Update(keymap.KeyFor("ctrl+z"))
	if cmd == nil {
		t.Fatal("ctrl+z does nothing")
	}
	if got := fmt.Sprintf("%T", cmd()); got != fmt.Sprintf("%T", toShell()()) {
		t.Errorf("ctrl+z sends %s", got)
	}
	s.run.Snap.State.Acting = id("unlock")
	if _, cmd := s.Update(keymap.KeyFor("ctrl+z")); cmd != nil {
		t.Error("a running act would be stopped")
	}
	s.want(t, "would stop it halfway")
}

// TestPlace names what must not be mistaken, and nothing else.
func TestPlace(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	for value, want := range map[string]ink.Text{"kind-prod-eu": "PRODUCTION", "https://k8s.live.example": "PRODUCTION", "arn:aws:eks:eu:1:cluster/PROD": "PRODUCTION",
		"reproduction": "", "products": "", "staging": "", "delivery": "", "prd_2": "PRODUCTION"} {
		if got := s.PlaceOf([]steps.KV{{Key: "cluster", Value: value}}); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
	if s.PlaceOf([]steps.KV{{Key: "host", Value: "prod-bastion"}}) != "" {
		t.Error("the operator's own machine names the place")
	}
	s.want(t, "PRODUCTION")
	s.run.Snap.State.Drill = "killed-runner"
	if slices.Contains(strings.Fields(s.screen()), "PRODUCTION") {
		t.Error("a drill is called production")
	}
}
