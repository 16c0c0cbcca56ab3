package view

import (
	"testing"

	"handrail/triage"
)

// TestConditionsInWords: what an author wrote is said as a person would, by the titles
// of steps, and one id is never taken for the beginning of another.
func TestConditionsInWords(t *testing.T) {
	t.Parallel()
	st := func(id, title string) triage.Step {
		return triage.Step{PlanStep: triage.PlanStep{ID: "b/" + id, Title: title, Kind: triage.ProbeStep}}
	}
	c := Snapshot{State: triage.State{Steps: []triage.Step{st("gate", "Open it"), st("quota", "The quota"), st("quota_owners", "Who owns the quota"), st("plan", "The plan"), st("ok", "Is it right?")}}}
	for text, want := range map[string]string{
		"does not hold: params.copy != ''":                                              "Only where the parameter copy is given.",
		"Make it true: params.copy != ''":                                               "Give the parameter copy.",
		"Make it true: answers.ok == 'yes'":                                             "Answer “Is it right?” with yes.",
		"does not hold: facts.plan.clean && !facts.quota.held":                          "Only where “The plan” clean, and not “The quota” held.",
		"does not apply: facts.plan.doomed.size() == 0":                                 "Only where “The plan” doomed is empty.",
		"Make it true: facts.plan.creates.exists(a, a in facts.quota.names)":            "Needed: something of “The plan” creates is among “The quota” names.",
		"Make it true: facts.plan.state == 'sound' || facts.quota.age < params.max":     "Needed: “The plan” state is sound, or “The quota” age is less than the parameter max.",
		"the required capture b/quota_owners is not recorded":                           "the required capture “Who owns the quota” is not recorded",
		"the condition \"facts.plan.clean != params.wanted\" of b/gate is \"unknown\"":  "It is unknown whether “The plan” clean is not the parameter wanted.",
		"step plan cannot start: its parameter file needs params.plan: it is empty":     "It cannot start: its parameter file needs the parameter plan: it is empty",
		"step plan cannot start: its parameter age needs facts.quota.age: not read yet": "It cannot start: its parameter age needs “The quota” age: not read yet",
		"does not apply: only where the parameter log is given":                         "Only where the parameter log is given.",
		"No one has said that it is gone.":                                              "No one has said that it is gone.",
	} {
		if got := c.Words("b/gate", text); got != want {
			t.Errorf("%q is said as %q, want %q", text, got, want)
		}
	}
	if got := c.Behind("b/gate", triage.Refusal{Law: 1, Why: "the required capture b/quota_owners is not recorded", Cure: "Run b/quota_owners."}); got != "b/quota_owners" {
		t.Errorf("it is met on %s", got)
	}
	if got := c.Cure("b/gate", "does not hold: facts.plan.clean", "Make it true: facts.plan.clean"); got != "" {
		t.Errorf("the cure only repeats the reason: %q", got)
	}
}
