package triage

import (
	"errors"
	"testing"
	"time"
)

func TestHandoverFolds(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	open, err := Fold(State{}, Event{At: at, Actor: "robin", Body: Open{Incident: "i", Title: "t", Severity: "SEV-3"}})
	if err != nil || open.Operator != "robin" {
		t.Fatalf("operator %q, %v", open.Operator, err)
	}
	for name, tt := range map[string]struct {
		body Handover
		ok   bool
	}{
		"fine":          {Handover{From: "robin", To: "ana", Why: "shift"}, true},
		"no reason":     {Handover{From: "robin", To: "ana", Why: " "}, false},
		"to no one":     {Handover{From: "robin", Why: "shift"}, false},
		"to oneself":    {Handover{From: "robin", To: "robin", Why: "shift"}, false},
		"given over":    {Handover{From: "robin", For: "ana", Why: "shift"}, true},
		"for no one":    {Handover{From: "robin", For: " ", Why: "shift"}, false},
		"given, no why": {Handover{From: "robin", For: "ana"}, false},
		"by a stranger": {Handover{From: "eve", To: "ana", Why: "shift"}, false},
	} {
		got, err := Fold(open, Event{Seq: 1, At: at, Actor: "ana", Body: tt.body})
		if (err == nil) != tt.ok || err == nil && got.Operator != tt.body.To {
			t.Errorf("%s: operator %q, %v", name, got.Operator, err)
		}
		var invalid *FoldError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %T", name, err)
		}
	}
}

// TestGivenOver: after a hand-over the first operator can do nothing more, and any other person may take it; an act and an
// armed gate are seen through first.
func TestGivenOver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	s, err := Fold(State{}, Event{At: at, Actor: "robin", Body: Open{Incident: "i", Title: "t", Severity: "SEV-3"}})
	if err != nil {
		t.Fatal(err)
	}
	give := Intent{Kind: DoHandOver, Person: "Ana", Text: "end of the shift; the lock is next"}
	for name, in := range map[string]Intent{"no one": {Kind: DoHandOver, Text: "x"}, "no reason": {Kind: DoHandOver, Person: "Ana"}} {
		if Check(s, in, at, nil) == nil {
			t.Errorf("%s: it may be given over", name)
		}
	}
	acting := s
	acting.Acting = "a/unlock"
	if Check(acting, give, at, nil) == nil {
		t.Error("it may be given over while something acts")
	}
	if r := Check(s, give, at, nil); r != nil {
		t.Fatal(r)
	}
	body, _ := Draft(s, give)
	s, err = Fold(s, Event{Seq: 1, At: at, Actor: "robin", Body: body})
	if err != nil || !s.GivenOver() || s.Handed.From != "robin" || s.Handed.For != "Ana" {
		t.Fatalf("given over: %+v, %v", s.Handed, err)
	}
	if Check(s, Intent{Kind: DoNote, Text: "and"}, at, nil) == nil || Check(s, give, at, nil) == nil {
		t.Error("who gave it over goes on")
	}
	if _, err := Fold(s, Event{Seq: 2, At: at, Actor: "eve", Body: Handover{From: "robin", To: "eve", Why: "x"}}); err == nil {
		t.Error("it is taken from an operator who no longer has it")
	}
	s, err = Fold(s, Event{Seq: 2, At: at, Actor: "ana", Body: Handover{To: "ana", Why: "as robin handed it over"}})
	if err != nil || s.Operator != "ana" || s.GivenOver() || s.Handed.From != "robin" {
		t.Errorf("taken: operator %q, %+v, %v", s.Operator, s.Handed, err)
	}
	if r := Check(s, Intent{Kind: DoNote, Text: "and"}, at, nil); r != nil {
		t.Error(r)
	}
}
