package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/screen"
)

// harmless are the intents that letters may send: what only looks, or ends a look.
var harmless = []triage.IntentKind{triage.DoProbe, triage.DoCancel}

// openShots are the screens of an incident that a person is in.
func openShots() []string {
	var out []string
	for name, sc := range shots() {
		if sc.incident {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// TestTypingNeverDecides: words meant for another window, on any screen of an open
// incident, read at most. What they hit decides nothing, records nothing and arms
// nothing: not by letters, digits and spaces in any order.
func TestTypingNeverDecides(t *testing.T) {
	t.Parallel()
	words := rapid.StringMatching(`[ -~]{1,40}`)
	for _, name := range openShots() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := shots()[name]
			typed := words.Example(len(name))
			rounds := 3
			if name == "live" { // each frame of a text that still comes is indexed
				rounds = 0
				typed = "gcuaz1"
			}
			for n := range rounds + 1 {
				s := onStage(t, 80, 24, true, "")
				sc.to(s)
				before := len(s.bench.sent)
				if n > 0 {
					typed = typed[:min(len(typed), 10)] + words.Example(n) + "gcuao z1 2 3"
				}
				for _, r := range typed {
					s.pass(gate.Grace)
					s.press(string(r))
					if s.Incident == nil {
						break // q leaves it as it is
					}
				}
				for _, in := range s.bench.sent[before:] {
					if !slices.Contains(harmless, in.Kind) {
						t.Fatalf("typing %q sent %q of %q", typed, in.Kind, in.Step)
					}
				}
			}
		})
	}
}

// TestPastedLinesNeverClose: a terminal without bracketed paste sends a paste as
// keys, with an enter after each line. Whatever the lines say, the incident stays
// open and no act begins.
func TestPastedLinesNeverClose(t *testing.T) {
	t.Parallel()
	const lines = "c 3 closed it\nc\n3\nbecause of it\n3\n2\naborted by ana\nc3\naborted\nz\nseal it\nc1\nrecovered now\nrecovered or not\n"
	for _, name := range openShots() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			shots()[name].to(s)
			lines := lines
			if name == "live" {
				lines = lines[:20]
			}
			if s.bench.state.Outcome != "" {
				return // it was closed on the way there
			}
			for _, r := range lines {
				k := string(r)
				if k == "\n" {
					k = "enter"
				}
				s.pass(gate.Grace)
				s.press(k)
				if s.Incident == nil {
					return
				}
			}
			if s.bench.state.Outcome != "" {
				t.Errorf("the incident was closed as %s\n%s", s.bench.state.Outcome, s.screen())
			}
		})
	}
}

// TestUnknownOpensALine: u answers nothing by itself, and the words after it are
// those of the line.
func TestUnknownOpensALine(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toAsk()
	before := len(s.bench.sent)
	s.write("unclear, closing later")
	s.want(t, "Answer: I do not know", "nclear, closing later", "when it is asked again")
	if n := len(s.bench.sent); n != before {
		t.Fatalf("typing sent %+v", s.bench.sent[before:])
	}
	s.press("enter", "enter")
	if in := s.bench.sent[before:]; len(in) != 1 || in[0].Value != triage.Unknown || in[0].Text != "asked: nclear, closing later" {
		t.Errorf("sent %+v", in)
	}
}

// TestEnterAfterSendingRecordsOnce: each enter that follows the one that sent an
// answer finds nothing to send again.
func TestEnterAfterSendingRecordsOnce(t *testing.T) {
	t.Parallel()
	answers := func(s *stage, k triage.IntentKind) int {
		n := 0
		for _, in := range s.bench.sent {
			if in.Kind == k && in.Step == id("holder") || in.Kind == k && in.Step == id("changed") {
				n++
			}
		}
		return n
	}
	s := onStage(t, 80, 24, true, "")
	s.toForm()
	s.write("no process on the runner")
	_, cmd := s.Update(keyPress("enter")) // on its way
	s.press("enter", "enter")
	s.settle(cmd)
	s.run.Front(id("holder"))
	s.press("enter", "enter")
	if n := answers(s, triage.DoAnswer); n != 1 {
		t.Errorf("the answer was recorded %d times", n)
	}
	s.press("esc", "esc")
	s.run.Front(id("holder"))
	s.press("2", "enter")
	if n := answers(s, triage.DoAnswer); n != 1 {
		t.Errorf("the same answer in the same words was recorded %d times", n)
	}
	s.want(t, "recorded already")

	s = onStage(t, 80, 24, true, "")
	s.toConclusion()
	_, cmd = s.Update(keyPress("enter"))
	s.press("enter", "enter")
	s.settle(cmd)
	if n := answers(s, triage.DoConclude); n != 1 {
		t.Errorf("the conclusion was recorded %d times", n)
	}
}

// TestClosingAsksOnceMore: the outcome is named and typed, and esc leaves the
// incident open.
func TestClosingAsksOnceMore(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("c", "3", "enter", "x", "enter")
	s.want(t, "Close as aborted", "type aborted to close it", "20261120-021400-state-lock-k7qd")
	s.press("enter")
	s.write("abort")
	s.press("enter")
	s.want(t, "Type aborted to close it, or press esc")
	s.press("esc")
	if len(s.bench.sent) != 0 || s.At != screen.AtRun {
		t.Errorf("sent %+v", s.bench.sent)
	}
}

// TestRecoveredNamesWhatIsLeft: a debt that an owner carries is not called settled.
func TestRecoveredNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toClosing()
	s.want(t, "Close as recovered", "Each post-condition of this runbook is shown, or waived by name.", "Not done: platform carries until 2026-12-01:")
}

// TestRecoveredNamesMissingEvidence: an open PC7 keeps nothing open, and is no proof either.
func TestRecoveredNamesMissingEvidence(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.bench.state.Steps = append(s.bench.state.Steps, triage.Step{PlanStep: triage.PlanStep{ID: id("runs"), Kind: triage.ManualStep, Phase: "learn", Covers: []string{"E3"}}})
	s.toClosing()
	s.want(t, "Not shown: PC7 audit and evidence trail are complete: open E3")
}

// TestLookingAtAGateIsNoAttempt: a letter shows what stands in the way, and the
// incident hears nothing of it. Enter reads the target where nothing does.
func TestLookingAtAGateIsNoAttempt(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("g")
	s.want(t, "NOT ARMED", "BLOCKED BY", "Only looked at")
	s.pass(gate.Grace)
	s.press("r", "enter")
	if s.gate != nil || len(s.bench.sent) != 0 {
		t.Errorf("sent %+v, the gate is in front: %t", s.bench.sent, s.gate != nil)
	}

	s = onStage(t, 80, 24, true, "")
	s.toReady()
	before := len(s.bench.sent)
	s.press("g")
	s.want(t, "Enter reads the target", "read the target")
	if n := len(s.bench.sent); n != before {
		t.Errorf("looking sent %+v", s.bench.sent[before:])
	}
	s.pass(gate.Grace)
	s.press("enter")
	s.pass(gate.Grace)
	s.want(t, "ARMED", "phrase ▸")
}

// TestRefusedSheetKeepsItsWords: what was typed comes back with the refusal.
func TestRefusedSheetKeepsItsWords(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("c", "1", "enter")
	s.write("all is fine again")
	s.press("enter")
	s.write("recovered")
	s.press("enter")
	s.want(t, "Close as recovered", "Not now:", "recovered")
	s.press("esc")
	s.run.Front(id("lock"))
	s.press("s")
	s.write("not needed here")
	s.press("enter")
	s.want(t, "Skip: The lock as it is now", "not needed here", "Not now:")
}

// TestClosedIncidentContinues: a closed incident goes on in a new one, which quotes it,
// and each names the other.
func TestClosedIncidentContinues(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	var next *bench
	s.model.Config.Start = func(_ context.Context, begin screen.Start) (screen.Incident, error) {
		if begin.Runbook != book {
			t.Errorf("started %s", begin.Runbook)
		}
		next = newBench(s.clock.now, "")
		return next, nil
	}
	s.press("O")
	s.want(t, "This incident is open.")
	s.toReady()
	old := s.bench
	s.press("c", "3", "enter", "x", "enter")
	s.write("aborted")
	s.press("enter", "O")
	s.want(t, "Continue in a new incident", "closed, with its evidence")
	s.write("closed by mistake")
	_, cmd := s.Update(keyPress("enter"))
	batch, _ := cmd().(tea.BatchMsg)
	if len(batch) != 2 {
		t.Fatalf("%d commands open it", len(batch))
	}
	s.Update(batch[1]())
	if s.Incident != screen.Incident(next) || !old.closed || s.At != screen.AtRun {
		t.Fatalf("the new one is shown: %t, the old one let go: %t", s.Incident == screen.Incident(next), old.closed)
	}
	var notes []string
	next.mu.Lock() // its first reads are under way
	for _, in := range next.sent {
		notes = append(notes, in.Text)
	}
	next.mu.Unlock()
	all := strings.Join(notes, "\n")
	for _, want := range []string{"closed as aborted: closed by mistake", "dead (no process on the runner)", "mutation = yes", old.state.Incident} {
		if !strings.Contains(all, want) {
			t.Errorf("the new incident does not say %q:\n%s", want, all)
		}
	}
	if last := old.sent[len(old.sent)-1]; last.Kind != triage.DoNote || !strings.Contains(last.Text, "Continued in ") {
		t.Errorf("the old incident ends with %+v", last)
	}
}
