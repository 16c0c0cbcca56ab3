package triage

import (
	"slices"
	"testing"
)

const healthy = "demo/healthy"

func provingPlan() Plan {
	p := demoPlan()
	p.Steps[0].Covers = []string{"E9"}
	p.Steps = append(p.Steps, PlanStep{ID: healthy, Phase: Verify, Kind: AskStep, Answers: []string{"healthy", "broken"}, Green: []string{"healthy"}})
	p.Proves = []Proves{{"PC3", []string{clean}}, {"PC4", []string{clean, healthy}}}
	return p
}

func condition(t *testing.T, s State, code string) Condition {
	t.Helper()
	all := Conditions(s)
	i := slices.IndexFunc(all, func(c Condition) bool { return c.Code == code })
	if i < 0 || len(all) != 7 {
		t.Fatalf("%d post-conditions, %s at %d", len(all), code, i)
	}
	return all[i]
}

// TestConditions: each post-condition is as good as its worst proof, and nothing but a proof
// or a name takes it from open.
func TestConditions(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append([]Body{Open{Incident: "i1", Title: "stuck", Severity: Sev3}, provingPlan()}, ready()[2:]...)...)
	want := func(when, code string, shown Shown) {
		t.Helper()
		if got := condition(t, s, code); got.Shown != shown {
			t.Errorf("%s: %s is %s, want %s: %+v", when, code, got.Shown, shown, got.By)
		}
	}
	want("before", "PC1", PCNotAsked)
	want("before", "PC3", PCOpen)
	s = tell(t, s, ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
	want("green", "PC3", PCShown)
	want("half of it", "PC4", PCOpen)
	s = tell(t, s, Answer{Step: healthy, Value: "broken", How: "looked"})
	want("denied", "PC4", PCRed)
	s = tell(t, s, Waive{Law: 8, Subject: healthy, Person: "ana", Why: "known"})
	want("answered for", "PC4", PCAccepted)
	if by := condition(t, s, "PC4").By; by[1].Who != "ana" || by[1].Why != "known" {
		t.Errorf("it is accepted by %+v", by)
	}
	s = tell(t, s, Answer{Step: healthy, Value: "healthy", How: "looked"})
	want("answered again", "PC4", PCShown)
}

// TestEvidenceIsAPostCondition: what is missing keeps the trail open, what was waived names
// who answers.
func TestEvidenceIsAPostCondition(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, provingPlan())
	if got := condition(t, s, EvidenceWhole); got.Shown != PCOpen {
		t.Errorf("nothing is captured: %+v", got)
	}
	w := tell(t, s, begin(lock), read(lock, 1, "denied", ""), Waive{Law: 1, Subject: lock, Person: "ana", Why: "gone"})
	if got := condition(t, w, EvidenceWhole); got.Shown != PCAccepted || got.By[0].Who != "ana" {
		t.Errorf("it was waived: %+v", got)
	}
	if got := condition(t, tell(t, s, begin(lock), read(lock, 1, "ok", "true")), EvidenceWhole); got.Shown != PCShown || len(got.By) > 0 {
		t.Errorf("it is captured: %+v", got)
	}
}

// TestUnprovenNeverHidesAnUrgentState walks through all the loop can have concluded:
// EvidenceIncomplete takes the place of no state that calls for an act or that could not be
// told, and of none while the states differ or may.
func TestUnprovenNeverHidesAnUrgentState(t *testing.T) {
	t.Parallel()
	base := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, provingPlan(),
		begin(lock), read(lock, 1, "denied", ""), Waive{Law: 1, Subject: lock, Person: "ana", Why: "gone"})
	classes := []string{Unknown}
	for _, f := range FailureStates() {
		classes = append(classes, f.Name)
	}
	proposed := 0
	for _, class := range classes {
		for _, known := range []bool{true, false} {
			for _, mutation := range []string{"", "yes", "no", Unknown} {
				for _, consistent := range []string{"", "yes", "no", Unknown} {
					for _, reverts := range []string{"", "yes", "no"} {
						s := base
						s.Topics = map[Topic]Conclusion{TopicMutation: {Value: mutation}, TopicConsistent: {Value: consistent}, TopicReverts: {Value: reverts}}
						lack, ok := UnprovenClass(s, class, known)
						if !ok {
							continue
						}
						proposed++
						urgent := !slices.Contains([]string{Unknown, "MutationNotStarted", "RejectedBeforePlan"}, class)
						if urgent || class == Unknown && !known || mutation != "yes" || consistent != "yes" || reverts == "yes" || len(lack) == 0 {
							t.Errorf("it hides %s (told: %v) with mutation %q, consistent %q, reverts %q", class, known, mutation, consistent, reverts)
						}
					}
				}
			}
		}
	}
	if proposed == 0 {
		t.Error("it is never proposed")
	}
	s := base
	s.Topics = map[Topic]Conclusion{TopicMutation: {Value: "yes"}}
	if got := Unproven(s); len(got) != 2 || got[0].Item != "E9" {
		t.Errorf("beside another class it lacks %+v", got)
	}
	whole := tell(t, base, ProbeStart{Step: lock, N: 2}, read(lock, 2, "ok", "true"))
	whole.Topics = s.Topics
	if got := Unproven(whole); len(got) > 0 {
		t.Errorf("what was captured after all is lacking: %+v", got)
	}
}
