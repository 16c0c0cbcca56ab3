package session_test

import (
	"fmt"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/triage"
)

// TestSwitchNeedsTrust: a runbook that is there and not trusted is named as a way to go on,
// and is not gone on with; the one in force goes on as the bundle keeps it, whatever became
// of its file.
func TestSwitchNeedsTrust(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(book+"next:\n  - {runbook: other, when: facts.lock.held, say: it goes on there}\n"), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	st.cfg.Library = func(id string) (*runbooks.Runbook, error) {
		return nil, fmt.Errorf("the runbook %q is %w", id, runbooks.ErrUntrusted)
	}
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	if next := quiet(t, s).Next; len(next) != 1 || next[0].Runbook != "other" {
		t.Fatalf("Next = %+v, want other", next)
	}
	err = s.Do(t.Context(), triage.Intent{Kind: triage.DoPlan, Value: "other"})
	refusals(t, err, "not trusted")
	if err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("%v", err)
	}
	if got := s.Snapshot().State.Plan().Runbook; got != "test-lock" || len(s.Snapshot().State.Plans) != 1 {
		t.Errorf("the incident is in %s", got)
	}
	do(t, s, triage.Intent{Kind: triage.DoPlan, Value: "test-lock"})
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := session.Resume(t.Context(), st.cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
