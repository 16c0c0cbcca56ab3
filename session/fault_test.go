package session_test

import (
	"testing"

	"handrail/session"
	"handrail/triage"
)

// A fault while the owner works ends the recording, not the program: an act
// that runs beside it must not be killed half done.
func TestFaultOfTheOwnerLeavesTheProgramAlive(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	st.cfg.Library = nil
	s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: st.rb})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoPlan, Value: "another"}); err == nil {
		t.Fatal("a fault gave no error")
	}
	if s.Snapshot().Dead == "" {
		t.Fatal("the session goes on after a fault")
	}
}
