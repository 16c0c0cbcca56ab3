package view

import (
	"maps"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestJudgeAfterParametersChange: what was read with other parameters is stale, and what
// is asked about it waits. Every step of every runbook is judged then, at once and once
// all of it grew old besides.
func TestJudgeAfterParametersChange(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range lib {
		for seed := range uint64(3) {
			c := &call{t: t, rb: rb, cat: cat, seed: seed, now: time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)}
			params := c.params()
			c.tell(triage.Open{Incident: "i", Title: "t", Severity: triage.Sev3})
			c.tell(rb.Plan(params))
			for _, st := range c.state.Steps {
				if kind, ok := rb.Kind(journal.Bare(st.ID), cat); ok && st.Kind == triage.ProbeStep {
					c.tell(triage.ProbeStart{Step: st.ID, N: 1})
					c.tell(triage.ProbeEnd{Step: st.ID, N: 1, Outcome: "ok", Facts: c.facts(kind, st.ID)})
				}
			}
			for _, p := range rb.Params {
				if p.Type != steps.Path && p.Type != steps.String {
					continue
				}
				now := maps.Clone(params)
				now[p.Name] = steps.StringOf("b")
				was := *c
				c.tell(rb.Plan(now))
				for _, after := range []time.Duration{0, time.Hour} {
					s := c.scene()
					s.Now = s.Now.Add(after)
					if len(triage.Options(c.state, s.Now, s.Judge)) == 0 {
						t.Errorf("%s: with another %s nothing is offered", rb.ID, p.Name)
					}
				}
				*c = was
			}
		}
	}
}
