package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/gate"
)

// confirms are the phrases that reached the incident.
func (s *stage) confirms() []triage.Intent {
	var out []triage.Intent
	for _, in := range s.bench.sent {
		if in.Kind == triage.DoConfirm {
			out = append(out, in)
		}
	}
	return out
}

func (s *stage) acted() bool { return s.bench.state.Gates[id("unlock")].StartSeq > 0 }

// TestGateHolds tries to get past the gate.
func TestGateHolds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		try  func(*stage)
		sent int    // phrases that may reach the incident
		says string // on the screen afterwards
	}{
		"enter alone":                      {func(s *stage) { s.press("enter", "enter", "enter") }, 0, "Enter alone does nothing"},
		"y and enter":                      {func(s *stage) { s.press("y", "enter") }, 1, "differs at character 1. 2 tries left"},
		"a prefix":                         {func(s *stage) { s.write("force-unlock"); s.press("enter") }, 1, "differs at character 13."},
		"another case":                     {func(s *stage) { s.write(strings.ToUpper(s.bench.preview.Phrase)); s.press("enter") }, 1, "differs at character 1."},
		"space at end":                     {func(s *stage) { s.write(s.bench.preview.Phrase + " "); s.press("enter") }, 1, "differs at character"},
		"space pasted":                     {func(s *stage) { s.Update(tea.PasteMsg{Content: " " + s.bench.preview.Phrase}); s.press("enter") }, 1, "differs at character 1."},
		"paste with newline does not send": {func(s *stage) { s.Update(tea.PasteMsg{Content: s.bench.preview.Phrase + "\r\n"}) }, 0, "pasted, and recorded as pasted"},
		"esc":                              {func(s *stage) { s.write("force"); s.press("esc") }, 0, "Disarmed. Nothing was changed."},
		"other keys":                       {func(s *stage) { s.press("g", "q", "a", "w", "i", "n", "c") }, 0, "gqawinc"},
		"resize":                           {func(s *stage) { s.write("for"); s.Update(tea.WindowSizeMsg{Width: 61, Height: 19}) }, 0, "phrase ▸ for"},
		"too small": {func(s *stage) {
			s.Update(tea.WindowSizeMsg{Width: 40, Height: 9})
			s.write(s.bench.preview.Phrase)
			s.press("enter")
		}, 0, "handrail needs 60×18"},
		"too small, paste": {func(s *stage) {
			s.Update(tea.WindowSizeMsg{Width: 40, Height: 9})
			s.Update(tea.PasteMsg{Content: s.bench.preview.Phrase})
			s.press("enter")
		}, 0, "ARMED"},
		"expired": {func(s *stage) { s.pass(6 * time.Minute); s.write(s.bench.preview.Phrase); s.press("enter") }, 1, "EXPIRED"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			s.toGate()
			tc.try(s)
			if got := len(s.confirms()); got != tc.sent {
				t.Errorf("%d phrases reached the incident, want %d", got, tc.sent)
			}
			if s.acted() {
				t.Error("the gate acted")
			}
			s.want(t, tc.says)
		})
	}
}

// TestGateGrace: keys meant for the screen below do not reach a gate that has
// just opened, and each of them lengthens the silence that it asks for.
func TestGateGrace(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toReady()
	s.opens(id("unlock"))
	phrase := s.bench.preview.Phrase
	for _, r := range phrase {
		s.press(string(r))
		s.pass(gate.Grace / 2)
	}
	s.press("enter")
	s.Update(tea.PasteMsg{Content: phrase})
	s.press("enter")
	if n := len(s.confirms()); n != 0 || s.gate.Edit.Value() != "" {
		t.Fatalf("%d phrases were sent and %q was typed within the grace", n, s.gate.Edit.Value())
	}
	s.pass(gate.Grace)
	s.write(phrase)
	s.press("enter")
	if !s.acted() {
		t.Error("the phrase typed after the grace did not act")
	}
}

func TestGatePhraseIsHandedOverAsItIs(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		enter  func(*stage, string)
		pasted bool
	}{
		"typed":  {func(s *stage, p string) { s.write(p) }, false},
		"pasted": {func(s *stage, p string) { s.Update(tea.PasteMsg{Content: p + " \n"}) }, true},
		"pasted and mended": {func(s *stage, p string) {
			s.Update(tea.PasteMsg{Content: p + "x"})
			s.press("backspace")
		}, true},
		"pasted, wiped, typed": {func(s *stage, p string) {
			s.Update(tea.PasteMsg{Content: "x"})
			s.press("backspace")
			s.write(p)
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 80, 24, true, "")
			s.toGate()
			tc.enter(s, s.bench.preview.Phrase)
			s.press("enter")
			got := s.confirms()
			if len(got) != 1 {
				t.Fatalf("%d phrases were handed over, want 1", len(got))
			}
			if got[0].Typed != s.bench.preview.Phrase || got[0].Pasted != tc.pasted || got[0].Digest == "" {
				t.Errorf("handed over %q, pasted %v, digest %q; want the phrase, %v and the digest shown", got[0].Typed, got[0].Pasted, got[0].Digest, tc.pasted)
			}
			s.want(t, "DONE", "successfully unlocked")
		})
	}
}

func TestThirdWrongPhraseCloses(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toGate()
	for range 3 {
		s.press("x", "enter")
		s.pass(gate.Grace)
	}
	s.write(s.bench.preview.Phrase)
	s.press("enter")
	if n := len(s.confirms()); n != 3 || s.acted() {
		t.Errorf("%d phrases were handed over and acted is %v; want 3 and false", n, s.acted())
	}
}

// TestConsequenceFits: what it does and to what stands without scrolling.
func TestConsequenceFits(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toGate()
	s.want(t, "THIS WILL    break the lock of runner@ci-7f9c.", "two", "writers can then damage the state.", "5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21",
		"https://10.0.0.1:6443", "infra/lock-tfstate-default-network", "digest "+string(s.bench.gate.Digest.Short()), "expires in")
	s.pass(61 * time.Second)
	s.want(t, "expires in 3m 58s")
}

// TestLookAlikesAreCounted: those who type without scrolling were told of each
// object that is not the target, and of what the act does and to what.
func TestLookAlikesAreCounted(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toDiff()
	always := []string{"THIS WILL    remove the finalizer", "stays.", "job/payments/migrate-42", "b7a4de11-0c55-4c1f-9d0e-2f1c6a9b8e33", "type     patch job/payments/migrate-42"}
	s.want(t, append(always, "- metadata.finalizers[0]: hooks.example.com/cleanup", "! NOT THIS   migrate-42-retry", "! NOT THIS   migrate-41")...)
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 21})
	s.want(t, append(always, "! NOT THIS   migrate-42-retry", "continue below")...)
	s.press("pgdown")
	s.want(t, "! NOT THIS   migrate-41", "more lines: pgdn")
	if strings.Contains(s.screen(), "continue below") {
		t.Errorf("look-alikes are said to be below when all were shown:\n%s", s.screen())
	}
	s.Update(tea.WindowSizeMsg{Width: 60, Height: 18})
	s.gate.Off = 0
	s.want(t, "! 2 look-alikes continue below", "type     patch job/payments/migrate-42")
}

// toBlocked is a gate whose target has an owner that is not paused.
func (s *stage) toBlocked() {
	s.bench.preview = strip("")
	s.bench.preview.Owners[1] = steps.Owner{Name: "Kustomization flux-system/payments", Paused: "no", How: "flux suspend kustomization payments"}
	s.toGate()
}

// TestOwnerStandsInTheWay: an owner that is not paused is said with its cure.
func TestOwnerStandsInTheWay(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toBlocked()
	s.want(t, "DANGER · BLOCKED", "BLOCKED BY", "✗ Kustomization flux-system/payments may undo this: it is not paused.", "→ flux suspend kustomization payments",
		"✓ Application argocd/payments is paused and cannot undo this.", "enter answer for the owner")
	if head, _, _ := strings.Cut(s.screen(), "\n"); !strings.HasSuffix(strings.TrimSpace(head), " BLOCKED") || strings.Contains(head, "ARMED") {
		t.Errorf("the header says %q", head)
	}
	s.pass(gate.Grace)
	s.write(s.bench.preview.Phrase) // no line is open
	s.press("w")
	s.want(t, "Kustomization flux-system/payments")
	s.write("grace")
	s.press("enter")
	s.write("its source is frozen")
	s.press("enter")
	s.want(t, "DANGER · ARMED", "! Kustomization flux-system/payments may undo this: it is not paused. grace answers for", "source is frozen", "phrase ▸")
	s.pass(gate.Grace)
	s.write(s.bench.preview.Phrase)
	s.press("enter")
	s.want(t, "DONE")
}

// TestRefusedPhraseSaysWhy: where what a gate stands on grew old before the phrase was
// sent, the reason stands beside the phrase, however long the gate is.
func TestRefusedPhraseSaysWhy(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 45}} {
		s := onStage(t, size[0], size[1], true, "")
		s.bench.old = []triage.Refusal{{Why: "stale, read again: test-lock/holder was read 16m ago", Cure: "Answer it again."}}
		s.toGate()
		s.pass(gate.Grace)
		s.write(s.bench.preview.Phrase)
		s.press("enter")
		s.want(t, "✗ Nothing was changed.", "read 16m ago", "→ esc, then: Answer it again.")
	}
}

// TestShutGateSaysWhyFirst: a target of more lines than the screen has hides neither why the
// gate is shut nor, while it is armed, all but one line of what is between.
func TestShutGateSaysWhyFirst(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	for i := range 20 {
		s.bench.preview.Target = append(s.bench.preview.Target, steps.KV{Key: fmt.Sprintf("row %d", i), Value: "x"})
	}
	s.toGate()
	_ = s.screen() // a page is what was seen
	off := s.gate.Off
	s.press("pgdown")
	if by := s.gate.Off - off; by < 4 {
		t.Errorf("a page scrolls by %d lines:\n%s", by, s.screen())
	}
	s.want(t, "THIS WILL    break the lock of runner@ci-7f9c.", "5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21", "phrase ▸")
	s.gate.Off, s.gate.Gate.Phase = 0, triage.GateIdle
	s.gate.Gate.Preview.Unmet = []steps.Need{{Why: "The state is not the one that the plan was made from.", Cure: "make a new plan"}}
	s.want(t, "NOT ARMED", "THIS WILL    break the lock of runner@ci-7f9c.", "BLOCKED BY", "✗ The state is not the one that the plan was made from.", "→ make a new plan")
}

// TestLeavingAnAct: the act goes on whatever is pressed.
func TestLeavingAnAct(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toReady()
	s.bench.hold = true
	s.opens(id("unlock"))
	s.pass(gate.Grace)
	s.write(s.bench.preview.Phrase)
	s.press("enter")
	s.want(t, "ACTING")
	s.press("ctrl+c")
	s.want(t, "Leaving does not stop it: it continues")
	s.press("enter")
	if s.leaving != nil {
		t.Error("enter did not stay")
	}
	s.pass(gate.Grace)
	s.press("i", "1", "enter")
	for _, in := range s.bench.sent {
		if in.Kind == triage.DoInterrupt {
			t.Error("an interrupt was sent without being chosen")
		}
	}
	s.press("i", "2", "enter")
	if last := s.bench.sent[len(s.bench.sent)-1]; last.Kind != triage.DoInterrupt {
		t.Errorf("the newest intent is %q, want an interrupt", last.Kind)
	}
}

// TestUndoneActIsDoneAgain: once what undid an act was found, enter reads its target anew,
// and does not show the earlier result again and again.
func TestUndoneActIsDoneAgain(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toUndone(triage.Undone)
	s.press("esc")
	s.change(func() { s.bench.record(triage.Conclude{Topic: triage.TopicReverts, Value: "no", Proposed: "no"}) })
	s.pass(time.Minute)
	s.want(t, "Show the gate: Release the lock")
	before := len(s.bench.sent)
	s.press("enter")
	if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Kind != triage.DoPreview {
		t.Errorf("enter sent %+v, want the preview of the gate", sent)
	}
}
