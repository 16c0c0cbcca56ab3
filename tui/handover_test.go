package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/session/replay"
	"handrail/triage"
	"handrail/tui/screen"
)

// toHandOver is the form that asks who goes on.
func (s *stage) toHandOver() { s.toFinding(); s.press("H") }

// toTakeOver opens the form that asks why the operator changes.
func (s *stage) toTakeOver() {
	s.Config.Resume = func(_ context.Context, id, why string) (screen.Incident, error) {
		if why == "" {
			return nil, fmt.Errorf("resuming %s: %w", id, &session.HandoverError{From: "ana@example.org", To: "bea"})
		}
		s.bench = newBench(s.clock.now, "")
		s.bench.record(triage.Handover{From: s.bench.state.Operator, To: "bea", Why: why})
		return s.bench, nil
	}
	s.toHome()
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
}

// openWith takes what came of an opening. The commands that wait for what never
// comes here are left alone.
func (s *stage) openWith(cmd tea.Cmd) {
	batch, ok := cmd().(tea.BatchMsg)
	if !ok {
		return
	}
	s.Update(batch[len(batch)-1]())
}

func (s *stage) handedOver() {
	s.press("H")
	s.write("Bea")
	s.press("enter")
	s.write("end of the shift")
	s.press("enter")
}

// TestHandOver records who goes on and why, and lets go of the incident.
func TestHandOver(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Config.Open = nil // as from the command centre
	s.toHandOver()
	s.want(t, "Hand over to another person", "keyboard is free")
	s.press("esc")
	s.handedOver()
	if s.At != screen.AtHome || !s.bench.closed {
		t.Fatalf("at %q, let go: %v", s.At, s.bench.closed)
	}
	s.want(t, "Handed over to Bea", "20261120-021400")
	last := s.bench.state.Timeline[len(s.bench.state.Timeline)-1]
	if last.Type != "handover" || !strings.Contains(last.Text, "hands over to Bea") || !strings.Contains(last.Text, "end of the shift") {
		t.Errorf("the journal says %+v", last)
	}
}

// TestHandOverWaits: not while something acts, and not past an armed gate.
func TestHandOverWaits(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toGate()
	s.gate = nil
	s.handedOver()
	s.want(t, "is armed", "Disarm it", "end of the shift") // refused, with its words
	if s.Incident == nil {
		t.Error("it was let go")
	}
	s.press("esc")
	s.run.Snap.State.Acting = id("unlock")
	s.press("H")
	if s.want(t, "Wait until it has ended"); s.Sheet != nil {
		t.Error("it asks for a name while something acts")
	}
}

// TestTakeOver: who takes over from another operator gives a reason, and both are shown from then on.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toTakeOver()
	s.want(t, "ana@example.org was at the keyboard last", "as bea", "are recorded")
	s.press("enter")
	s.want(t, "is required")
	s.write("she is asleep")
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	s.want(t, "keyboard bea, after ana")
	if !strings.Contains(s.bench.state.Timeline[len(s.bench.state.Timeline)-1].Text, "she is asleep") {
		t.Error("the reason is not in the journal")
	}
}

// TestFollowerIsToldOfAHandOver: a follower sees that no operator is at the keyboard, and how to take over.
func TestFollowerIsToldOfAHandOver(t *testing.T) {
	t.Parallel()
	r := recorded(t, "", func(s *stage) {
		s.toFinding()
		s.bench.record(triage.Handover{From: s.bench.state.Operator, For: "Bea", Why: "end of the shift"})
	})
	tape, err := replay.Follow(r.Snapshot().Bundle, replay.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer tape.Close()
	s := onTape(t, tape, 80, 24)
	s.want(t, "handed over to Bea", "The keyboard is", "handrail resume")
	s.press("g")
	s.want(t, "The keyboard is")
}
