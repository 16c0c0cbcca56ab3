package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestFactsOfAStepThatDoesNotApply: a question shows no fact that nothing will read.
func TestFactsOfAStepThatDoesNotApply(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(rb *runbooks.Runbook) bool { return rb.ID == "partial-apply" })]
	for plan, want := range map[string]bool{"": false, "plan.json": true} {
		c := &call{t: t, rb: rb, cat: cat, now: time.Date(2026, 11, 23, 2, 14, 0, 0, time.UTC)}
		params, err := rb.Bind(map[string]string{"log": "apply.log", "plan": plan})
		if err != nil {
			t.Fatal(err)
		}
		c.tell(triage.Open{Incident: "i", Title: "t", Severity: triage.Sev3})
		c.tell(rb.Plan(params))
		st, ok := c.state.Step("partial-apply/looked")
		if !ok {
			t.Fatal("no step looked")
		}
		card := c.scene().card(st)
		shows := func(prefix string) bool {
			return slices.ContainsFunc(card.Show, func(kv steps.KV) bool { return strings.HasPrefix(kv.Key, prefix) })
		}
		if got := shows("live."); got != want || !shows("left.creates") || !shows("inventory.") {
			t.Errorf("plan %q: shows live = %v, want %v, and left and inventory: %v", plan, got, want, card.Show)
		}
	}
}

// TestLabelledFactsOfAStepThatDoesNotApply: neither does one that calls it by a name.
func TestLabelledFactsOfAStepThatDoesNotApply(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(rb *runbooks.Runbook) bool { return rb.ID == "hardening-cascade" })]
	for policy, want := range map[string]bool{"": false, "deny-all": true} {
		c := &call{t: t, rb: rb, cat: cat, now: time.Date(2026, 11, 23, 2, 14, 0, 0, time.UTC)}
		params, err := rb.Bind(map[string]string{"quota": "budget", "policy": policy})
		if err != nil {
			t.Fatal(err)
		}
		c.tell(triage.Open{Incident: "i", Title: "t", Severity: triage.Sev3})
		c.tell(rb.Plan(params))
		st, _ := c.state.Step("hardening-cascade/controls")
		card := c.scene().card(st)
		shows := func(name string) bool {
			return slices.ContainsFunc(card.Show, func(kv steps.KV) bool { return kv.Key == name })
		}
		if shows("policy written by") != want || !shows("quota written by") {
			t.Errorf("policy %q: %v", policy, card.Show)
		}
	}
}
