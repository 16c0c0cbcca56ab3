package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/match"
	"handrail/tui/screen"
)

// toSymptoms has two symptoms picked.
func (s *stage) toSymptoms() {
	s.toHome()
	s.press("s", "enter", "down", "space")
}

// TestPickSymptoms picks what is seen, finds more by its words, gives one back, and starts what fits.
func TestPickSymptoms(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 30, false, "")
	s.toHome()
	s.press("s")
	s.want(t, "What do you see?", "[ ] Every plan", "▸ enter  I see this")
	s.press("enter")
	s.want(t, "[✓] Every plan", "MATCHING RUNBOOKS", "because of  Every plan", "Remove this symptom", "EARLIER INCIDENTS WITH STATE-LOCK", "ongoing")
	s.press("/")
	s.write("never DELETE")
	s.want(t, "/ never DELETE", "A delete was requested")
	if n := strings.Count(s.screen(), "[ ]"); n != 1 {
		t.Fatalf("%d symptoms have the words", n)
	}
	picked := func(want int) {
		t.Helper()
		if n := strings.Count(s.screen(), "[✓]"); n != want {
			t.Errorf("%d symptoms are picked, want %d:\n%s", n, want, s.screen())
		}
	}
	s.press("enter")
	s.want(t, "/ never DELETE", "[✓] A delete was requested", "[✓] Every plan")
	picked(2)
	s.press("esc", "home", "space")
	s.want(t, "[ ] Every plan")
	picked(1)
	s.press("/")
	s.write("zzz")
	s.want(t, "No match")
	s.press("esc", "end")
	s.want(t, "Start an incident with partial-apply")
	s.press("enter")
	if s.Sheet == nil {
		t.Error("the runbook is not started")
	}
	s.press("esc", "tab")
	s.want(t, "What is the error?")
	s.press("tab")
	picked(1)
	s.Update(tea.PasteMsg{Content: "Error: Error acquiring the state lock"})
	if s.want(t, "What is the error?"); s.match.Said.Text == "" {
		t.Error("a paste is lost")
	}
	s.press("esc")
	if s.At != screen.AtHome {
		t.Error("esc does not lead home")
	}
}

// TestSymptomsAreRankedForTheNewestPick: what is ranked for an earlier pick comes too late.
func TestSymptomsAreRankedForTheNewestPick(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 30, false, "")
	s.toSymptoms()
	s.Update(match.FittingMsg{Seq: s.symptoms.Seq - 1})
	if len(s.symptoms.Hits) == 0 {
		t.Error("an old ranking took the place of a newer one")
	}
}

// TestTextFromAPipe shows what came through a pipe, matched, as its first screen.
func TestTextFromAPipe(t *testing.T) {
	t.Parallel()
	s := &stage{clock: &clockwork{opened()}}
	c := configFixture(s.clock.now, "")
	c.Matching, c.Text, c.Home, c.Centre = true, "Error: Error acquiring the state lock\n", nil, nil
	s.model = newModel(t.Context(), c)
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	batch := s.Init()().(tea.BatchMsg)
	s.finish(batch[len(batch)-1])
	s.want(t, "MATCHING RUNBOOKS", "state-lock", "because of")
}

// TestFindFact narrows the facts as the filter is typed, by step, name and value, and takes no letter for a command meanwhile.
func TestFindFact(t *testing.T) {
	t.Parallel()
	for _, w := range []int{80, 140} {
		s := onStage(t, w, 24, true, "")
		s.toAsk()
		s.press("/")
		s.write("SERIAL")
		s.want(t, "/ SERIAL", "serial", "42", "Keep this filter")
		if s.Sheet != nil {
			t.Fatal("a letter of the filter opened a form")
		}
		s.write("x")
		s.want(t, "No match")
		s.press("backspace", "enter")
		s.want(t, "/ SERIAL")
		s.press("/")
		s.Update(tea.PasteMsg{Content: " 42"})
		s.press("esc")
		if strings.Contains(s.screen(), "/ SERIAL") || !s.run.Facts {
			t.Error("esc does not show all facts")
		}
		s.press("esc")
		if s.run.Facts {
			t.Error("esc does not lead back to the step")
		}
	}
}
