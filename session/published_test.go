package session_test

import (
	"testing"

	"handrail/triage"
)

// TestAnObservationIsPublishedTwice: once when its probe began, once with all that
// follows from it. Each snapshot asks every law and every condition again.
func TestAnObservationIsPublishedTwice(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	before := s.Snapshot()
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	after := s.Snapshot()
	if shown, entries := after.Serial-before.Serial, after.State.Seq-before.State.Seq; shown != 2 || entries != 3 {
		t.Errorf("%d snapshots for %d entries, want 2 for 3: the phase, the start and the end", shown, entries)
	}
	if got := after.Cards["test-lock/unlock"].With; len(got) != 1 || got[0].Value != "l-1" {
		t.Errorf("the newest snapshot fills in %+v from what was read", got)
	}
	// A call that records several entries is one: the phase, and what was answered.
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "seen"})
	if shown, entries := s.Snapshot().Serial-after.Serial, s.Snapshot().State.Seq-after.State.Seq; shown != 1 || entries != 2 {
		t.Errorf("%d snapshots for %d entries of an answer, want 1 for 2", shown, entries)
	}
}

// TestASheetIsPublishedOnce: the words of a sheet are entries of their own, in its order, and
// shown together. One that is refused keeps none of the others back.
func TestASheetIsPublishedOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	before := s.Snapshot()
	errs := s.DoAll(t.Context(), []triage.Intent{
		{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "seen"},
		{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "perhaps", Text: "seen"},
		{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "yes"},
	})
	after := s.Snapshot()
	if shown := after.Serial - before.Serial; shown != 1 {
		t.Errorf("%d snapshots for a sheet, want 1", shown)
	}
	if len(errs) != 3 || errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("DoAll = %v, want the second refused alone", errs)
	}
	if holder, _ := after.State.Step("test-lock/holder"); holder.Answer != "dead" || after.State.Topics[triage.TopicMutation].Value != "yes" {
		t.Errorf("recorded: %q, %+v", holder.Answer, after.State.Topics)
	}
}
