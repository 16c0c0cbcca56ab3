package tui

import (
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
	s.want(t, "[✓] Every plan", "RUNBOOKS THAT FIT", "because of  Every plan", "It is not so: give it back", "INCIDENTS WITH STATE-LOCK BEFORE", "ongoing")
	s.press("/")
	s.write("never DELETE")
	s.want(t, "/ never DELETE", "A delete was asked for")
	if len(s.symptoms.Shown) != 1 {
		t.Fatalf("%d symptoms have the words", len(s.symptoms.Shown))
	}
	s.press("enter")
	if len(s.symptoms.Picked) != 2 || s.symptoms.Find.Value() != "" || s.symptoms.Searching {
		t.Errorf("picked %v, looking for %q", s.symptoms.Picked, s.symptoms.Find.Value())
	}
	s.press("home", "space")
	if len(s.symptoms.Picked) != 1 || s.symptoms.Picked[symptomsFixture("")[0].Text] {
		t.Errorf("picked %v", s.symptoms.Picked)
	}
	s.press("/")
	s.write("zzz")
	s.want(t, "Nothing here has these words")
	s.press("esc", "end")
	s.want(t, "Start an incident with partial-apply")
	s.press("enter")
	if s.Sheet == nil {
		t.Error("the runbook is not started")
	}
	s.press("esc", "tab")
	s.want(t, "What does the failure say?")
	s.press("tab")
	if s.At != screen.AtSymptoms || len(s.symptoms.Picked) != 1 {
		t.Error("what was picked is forgotten")
	}
	s.Update(tea.PasteMsg{Content: "Error: Error acquiring the state lock"})
	if s.want(t, "What does the failure say?"); s.match.Text == "" {
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
	s.want(t, "RUNBOOKS THAT RECOGNISE IT", "state-lock", "because of")
}

// TestFindFact narrows the facts while somebody types, by step, name and value, and takes no letter for a command meanwhile.
func TestFindFact(t *testing.T) {
	t.Parallel()
	for _, w := range []int{80, 140} {
		s := onStage(t, w, 24, true, "")
		s.toAsk()
		s.press("/")
		s.write("SERIAL")
		s.want(t, "/ SERIAL", "serial", "42", "Keep these facts")
		if got := s.run.Find.Words(); len(got) != 1 || s.Sheet != nil {
			t.Fatalf("words %q, a form: %v", got, s.Sheet != nil)
		}
		s.write("x")
		s.want(t, "No fact has these words")
		s.press("backspace", "enter")
		s.want(t, "/ SERIAL")
		s.press("/")
		s.Update(tea.PasteMsg{Content: " 42"})
		s.press("esc")
		if s.run.Find.Edit.Value() != "" || !s.run.Facts {
			t.Error("esc does not show all facts")
		}
		s.press("esc")
		if s.run.Facts {
			t.Error("esc does not lead back to the step")
		}
	}
}
