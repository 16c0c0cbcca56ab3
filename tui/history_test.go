package tui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/screen"
)

// TestBackThroughHistory: after any path, as many steps back end where
// it began, as many on again end where it led to, and nothing was asked for.
func TestBackThroughHistory(t *testing.T) {
	t.Parallel()
	keys := strings.Fields("[ ] left right up down n f tab e v V > enter esc / pgdown end home ? w g ctrl+o ctrl+n backspace")
	rapid.Check(t, func(r *rapid.T) {
		s := onStage(t, 80, 24, true, "")
		s.press("r")
		s.run.Front(id("state"))
		s.press("r", "r")
		s.bench.slow = map[string]bool{id("process"): true}
		s.run.Front(id("process"))
		s.press("r")
		s.bench.print(id("process"), "looking", "still looking")
		s.hear()
		s.hist = history{}
		begin, sent, seq := s.spot(), len(s.bench.sent), s.bench.state.Seq
		for range rapid.IntRange(1, 40).Draw(r, "moves") {
			k := rapid.SampledFrom(keys).Draw(r, "key")
			if k == "enter" && s.At != screen.AtEvidence || k == "g" && s.At == screen.AtRun || k == "w" && s.At == screen.AtRun {
				continue // those do something, which is not navigation
			}
			s.press(k)
			if s.Sheet != nil || s.gate != nil {
				s.press("esc")
			}
		}
		for s.help != nil || s.typing() || s.evidence.View != nil && s.evidence.View.Asking {
			s.press("esc")
		}
		end := s.spot()
		n := len(s.hist.back)
		for range n {
			s.press("ctrl+o")
		}
		if got := s.spot(); got != begin {
			r.Fatalf("%d steps back end at %+v, want %+v", n, got, begin)
		}
		on := len(s.hist.on)
		for range n {
			s.press("ctrl+n")
		}
		if got := s.spot(); got != end {
			r.Fatalf("%d steps on end at %+v, want %+v (%d were kept)", n, got, end, on)
		}
		if len(s.bench.sent) != sent || s.bench.state.Seq != seq {
			r.Fatalf("looking around asked for %+v", s.bench.sent[sent:])
		}
	})
}

// TestRailShowsWhereOneWas names the way in its order, and takes it back.
func TestRailShowsWhereOneWas(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("]", "]")
	s.want(t, "○ state        ←1", "lock         ←2")
	s.press("backspace")
	if s.run.Focus != id("state") {
		t.Errorf("back goes to %s", s.run.Focus)
	}
	s.press("ctrl+o", "ctrl+o")
	s.want(t, "This is the start of")
	if s.run.Focus != id("lock") {
		t.Errorf("back goes to %s", s.run.Focus)
	}
	s.press("ctrl+n")
	if s.run.Focus != id("state") {
		t.Errorf("on again goes to %s", s.run.Focus)
	}
}

// TestNoteEverywhere: a note can be taken on every screen of an incident, and what
// is behind it stays as it was.
func TestNoteEverywhere(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]func(*stage){
		"run":       func(*stage) {},
		"evidence":  (*stage).toEvidence,
		"searching": func(s *stage) { s.toEvidence(); s.press("/"); s.write("loc") },
		"viewer":    (*stage).toViewer,
		"finding":   func(s *stage) { s.toViewer(); s.press("/"); s.write("err") },
		"number":    func(s *stage) { s.toViewer(); s.press("g", "4") },
		"live":      (*stage).toLive,
		"palette":   func(s *stage) { s.press(":"); s.write("gat") },
		"form":      func(s *stage) { s.toForm(); s.write("no proc") },
		"help":      func(s *stage) { s.press("?") },
		"gate":      func(s *stage) { s.toGate(); s.write("force-unl") },
		"gateshut":  func(s *stage) { s.run.Front(id("unlock")); s.press("g"); s.pass(gate.Grace) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			to(s)
			before, form := s.screen(), s.Sheet
			s.press("ctrl+t")
			if s.Sheet == nil || s.Sheet == form {
				t.Fatal("there is no sheet to take a note on")
			}
			s.want(t, "Note for the timeline")
			s.press("esc")
			if got := s.screen(); got != before {
				t.Errorf("a note that was not sent leaves another screen:\n%s\nbefore:\n%s", got, before)
			}
			s.press("ctrl+t")
			s.write("Ben is told")
			s.press("enter")
			if last := s.bench.sent[len(s.bench.sent)-1]; last.Kind != triage.DoNote || last.Text != "Ben is told" {
				t.Errorf("sent %+v", last)
			}
			if s.Sheet != form {
				t.Errorf("what was in front is gone: %+v", s.Sheet)
			}
		})
	}
}

// TestNoteOverArmedGate: the gate stays armed, with its time and what was typed,
// and no key that was meant for the note reaches it.
func TestNoteOverArmedGate(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toGate()
	phrase := s.bench.preview.Phrase
	s.write(phrase)
	until := s.gate.Gate.Until
	s.press("ctrl+t")
	s.want(t, "ARMED", "Note for the timeline")
	s.write("Ben says go")
	s.press("enter", "enter") // one too many
	if g := s.gate; !g.Armed() || g.Edit.Value() != phrase || g.Gate.Until != until || g.Sent {
		t.Errorf("the gate is armed %v, sent %v, with %q until %v", g.Armed(), g.Sent, g.Edit.Value(), g.Gate.Until)
	}
	s.want(t, "Note recorded")
	for _, in := range s.bench.sent {
		if in.Kind == triage.DoConfirm || in.Kind == triage.DoDisarm {
			t.Errorf("a note sent %s", in.Kind)
		}
	}
	s.pass(gate.Grace)
	s.press("t")
	if s.Sheet != nil || s.gate.Edit.Value() != phrase+"t" {
		t.Error("a letter of the phrase was taken for a note")
	}
}
