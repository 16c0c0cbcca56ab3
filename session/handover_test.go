package session_test

import (
	"errors"
	"strings"
	"testing"

	"handrail/session"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/triage"
)

// TestHandOver: another operator takes over only with a reason; both names are recorded, once, and the first operator can take it
// back in the same way.
func TestHandOver(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	first := s.Snapshot().State.Operator
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil || first == "" {
		t.Fatalf("operator %q, %v", first, err)
	}
	c := st.cfg
	c.Actor = triage.Person{ID: "ana", Name: "Ana", Proof: "os", Subject: "ana"}
	for _, why := range []string{"", "  "} {
		c.Takeover = why
		if _, err := session.Resume(t.Context(), c, path); !errors.Is(err, session.ErrHandover) || !strings.Contains(err.Error(), first) {
			t.Fatalf("without a reason: %v", err)
		}
	}
	before, err := journal.LoadState(path)
	if err != nil || before.Operator != first {
		t.Fatalf("a refused hand-over left operator %q, %v", before.Operator, err)
	}
	c.Takeover = "end of the shift"
	for range 2 { // the second time it is her own
		s, err := session.Resume(t.Context(), c, path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Snapshot().State; got.Operator != "ana" {
			t.Errorf("operator %q", got.Operator)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	back := st.cfg
	back.Takeover = "she asked me to"
	s, err = session.Resume(t.Context(), back, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range s.Snapshot().State.Timeline {
		if m.Type == "handover" {
			said = append(said, m.Text)
		}
	}
	want := []string{first + " handed over to ana: end of the shift", "ana handed over to " + first + ": she asked me to"}
	if strings.Join(said, "|") != strings.Join(want, "|") {
		t.Errorf("the timeline says %q, want %q", said, want)
	}
	if r, err := audit.Bundle(path, st.cfg.Catalog, audit.Verifier{}); err != nil || !r.OK() {
		t.Errorf("audit: %v, %+v", err, r.Lines)
	}
}

// TestGiveOver: one gives it over and leaves, the next goes on without a reason of their own; both stand in the journal.
func TestGiveOver(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	first, path := s.Snapshot().State.Operator, s.Snapshot().Bundle
	do(t, s, triage.Intent{Kind: triage.DoHandOver, Person: "Ana", Text: "end of the shift"})
	var refused *triage.Refused
	if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"}); !errors.As(err, &refused) {
		t.Errorf("a probe after it was given over: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := st.cfg
	c.Actor = triage.Person{ID: "ana", Name: "Ana", Proof: "os", Subject: "ana"}
	s, err := session.Resume(t.Context(), c, path)
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "here"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range s.Snapshot().State.Timeline {
		if m.Type == "handover" {
			said = append(said, m.Text)
		}
	}
	want := []string{first + " hands over to Ana, and the keyboard is free: end of the shift", "ana is at the keyboard: as " + first + " handed it over: end of the shift"}
	if strings.Join(said, "|") != strings.Join(want, "|") {
		t.Errorf("the timeline says %q, want %q", said, want)
	}
	if r, err := audit.Bundle(path, st.cfg.Catalog, audit.Verifier{}); err != nil || !r.OK() {
		t.Errorf("audit: %v, %+v", err, r.Lines)
	}
}
