package journal

import (
	"slices"

	"handrail/runbooks"
	"handrail/triage"
)

// Rows evaluates a comparison at the time that its attempt began. What is too
// old for a gate is unknown here too, or a comparison would make it look new.
func Rows(rb *runbooks.Runbook, st triage.State, id string) []triage.Compared {
	step, _ := st.Step(id)
	var out []triage.Compared
	for _, row := range rb.Rows(Bare(id), Vars(st, rb.ID, step.Started, true)) {
		made := triage.Compared{Field: row.Field}
		for _, c := range row.Cells {
			made.Sides = append(made.Sides, triage.Side{Source: c.Source, Expr: c.Expr, Value: c.Value, From: entries(st, c.Steps)})
		}
		out = append(out, made)
	}
	return out
}

// entries are those that settled the steps.
func entries(st triage.State, ids []string) []int64 {
	var out []int64
	for _, id := range ids {
		if step, ok := st.Step(id); ok && step.EndSeq > 0 {
			out = append(out, step.EndSeq)
		}
	}
	slices.Sort(out)
	return out
}
