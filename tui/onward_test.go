package tui

import (
	"testing"
	"time"

	"handrail/triage"
	"handrail/tui/screen"
)

// TestOneEnterReadsAll: one enter reads all that is ready, and what was found stands
// on one screen; nothing is answered by it.
func TestOneEnterReadsAll(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.want(t, "Read all 3: lock, state, process")
	s.toRound()
	s.want(t, "preserve · 3 reads", "✓ read", "✗ state", "PROPOSED", "domain     state-backend", "✓ The lock as it is now", "Accept: domain = state-backend")
	for _, st := range s.run.Steps() {
		if read := st.Phase == triage.Preserve; read != (st.Attempts > 0) {
			t.Errorf("%s was read %d times", st.ID, st.Attempts)
		}
		if st.Answer != "" {
			t.Errorf("%s is answered %s", st.ID, st.Answer)
		}
	}
	s.press("]")
	s.want(t, "The recorded state", "THE SAME BY HAND")
}

// TestEnterForReadsAcceptsNothing: an enter that came while the reads ended decides
// nothing on the page of what they found.
func TestEnterForReadsAcceptsNothing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Config.Pause = 400 * time.Millisecond
	s.toRound()
	s.press("enter", "enter")
	if n := len(s.run.Snap.State.Topics); n != 0 {
		t.Fatalf("%d conclusions are recorded", n)
	}
	s.pass(400 * time.Millisecond)
	s.press("enter")
	if c := s.run.Snap.State.Topics[triage.TopicDomain]; c.Value != "state-backend" {
		t.Errorf("domain = %+v", c)
	}
}

// TestAcceptingMovesOn: one enter accepts what the facts propose, and what comes
// next is in front.
func TestAcceptingMovesOn(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toTogether()
	s.want(t, "with it    mutation  yes", "with it    class  MutationPartiallySucceeded", "Accept these 3: ")
	s.press("enter")
	for _, topic := range []triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicClass} {
		c := s.run.Snap.State.Topics[topic]
		if c.Value == "" || c.Provisional {
			t.Errorf("%s = %+v", topic, c)
		}
	}
	if s.run.Focus != id("holder") {
		t.Errorf("%s is in front", s.run.Focus)
	}
}

// TestAgreeing: enter agrees with what the facts say to a question, and the record
// has their words; a number still answers otherwise. Where the facts say nothing,
// enter answers nothing.
func TestAgreeing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toAgree()
	s.want(t, "proposed   dead", "▸ 2  dead", "Agree: dead")
	s.press("enter")
	if st, _ := s.run.Snap.State.Step(id("holder")); st.Answer != "dead" || st.How != "Its process is gone from this machine. (facts.process.alive = dead)" {
		t.Errorf("answered %q: %q", st.Answer, st.How)
	}
	s = onStage(t, 80, 24, true, "")
	s.toAgree()
	s.press("1")
	s.want(t, "Answer: alive")
	s = onStage(t, 80, 24, true, "")
	s.toAsk()
	s.press("enter")
	if st, _ := s.run.Snap.State.Step(id("holder")); st.Answer != "" {
		t.Errorf("enter alone answered %q", st.Answer)
	}
}

// TestSecondEnterDecidesNothing: what came to the front by itself is shown for a
// moment before a key decides there.
func TestSecondEnterDecidesNothing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Config.Pause = 400 * time.Millisecond
	s.toTogether()
	s.pass(400 * time.Millisecond)
	s.press("a", "enter")
	s.press("enter", "enter", "2")
	if n := len(s.run.Snap.State.Topics); n != 1 || s.Sheet != nil {
		t.Fatalf("%d conclusions are recorded, want the one", n)
	}
	s.pass(400 * time.Millisecond)
	s.press("enter")
	if n := len(s.run.Snap.State.Topics); n != 3 {
		t.Errorf("%d conclusions are recorded", n)
	}
}

// TestSwitchGoesToTheNewPlan: after another runbook is taken up, what it wants first is
// in front, and no step of the one before.
func TestSwitchGoesToTheNewPlan(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.run.Front(id("holder"))
	s.did(screen.Answer{In: triage.Intent{Kind: triage.DoPlan, Value: "state-lock"}})
	if s.run.Focus != id("lock") {
		t.Errorf("%s is in front", s.run.Focus)
	}
}
