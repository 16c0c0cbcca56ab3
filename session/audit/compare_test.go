package audit

import (
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestForgedComparisonIsNamed: a comparison of a journal must follow from the
// entries before it.
func TestForgedComparisonIsNamed(t *testing.T) {
	t.Parallel()
	rb, err := runbooks.Parse("f", []byte(`apiVersion: handrail/v1
kind: Runbook
id: sample
title: A sample
domain: state-backend
severity: SEV-3
preserve:
  - {id: lock, uses: terraform/lock}
compare:
  - id: sides
    compare: q
    rows: {held: {desired: 'false', actual: facts.lock.held}, who: {recorded: facts.lock.who, actual: facts.lock.id}}
`), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	before := triage.State{Plans: []triage.Plan{{Runbook: "sample"}}, Steps: []triage.Step{
		{PlanStep: triage.PlanStep{ID: "sample/lock", Kind: triage.ProbeStep}, Status: triage.Settled, Ended: at, EndSeq: 7, Facts: map[string]triage.Value{
			"held": steps.BoolOf(true), "who": steps.StringOf("ci"), "id": steps.IdentOf("5e1c")}},
		{PlanStep: triage.PlanStep{ID: "sample/sides", Kind: triage.CompareStep}, Status: triage.Running, Started: at.Add(time.Minute)},
	}}
	honest := func() triage.ProbeEnd {
		return triage.ProbeEnd{Step: "sample/sides", Outcome: "ok", Rows: journal.Rows(rb, before, "sample/sides")}
	}
	if wrong := reviewed(rb, before, honest()); wrong != "" {
		t.Errorf("an honest comparison is %q", wrong)
	}
	for name, forge := range map[string]func(*triage.ProbeEnd){
		"another value": func(e *triage.ProbeEnd) { e.Rows[0].Sides[1].Value = steps.BoolOf(false) },
		"made unknown": func(e *triage.ProbeEnd) {
			e.Rows[0].Sides[1].Value = steps.Unknown(steps.Bool, "denied")
		},
		"another entry":  func(e *triage.ProbeEnd) { e.Rows[0].Sides[1].From = []int64{3} },
		"another source": func(e *triage.ProbeEnd) { e.Rows[0].Sides[1].Source = "recorded" },
		"another field":  func(e *triage.ProbeEnd) { e.Rows[0].Field = "free" },
		"a field less":   func(e *triage.ProbeEnd) { e.Rows = e.Rows[:1] },
		"no field":       func(e *triage.ProbeEnd) { e.Rows = nil },
		"a side less":    func(e *triage.ProbeEnd) { e.Rows[1].Sides = e.Rows[1].Sides[:1] },
	} {
		end := honest()
		forge(&end)
		var c comparisons
		c.judge(rb, 9, before, end)
		if line, said := c.line(); line.OK || !said {
			t.Errorf("%s passes", name)
		}
	}
	// A value that the bundle may not hold cannot be judged again.
	end := honest()
	end.Rows[1].Sides[0].Value = steps.StringOf("<redacted:known:0123456789abcdef>")
	if wrong := reviewed(rb, before, end); wrong != "" {
		t.Errorf("a redacted value is %q", wrong)
	}
}
