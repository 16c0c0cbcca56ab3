package runbooks

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// Row is one field of a compare step with what its sources say now.
type Row struct {
	Field string
	Cells []Cell
}

// Cell is one source of a field.
type Cell struct {
	Source string
	Expr   string
	Value  steps.Value // an unknown one has its reason
	Steps  []string    // that it stands on, with the id of the runbook
}

// Rows evaluates the fields of a compare step; nil for a step that has none.
func (r *Runbook) Rows(step string, v Vars) []Row {
	s := r.step(step)
	if s == nil {
		return nil
	}
	var out []Row
	for _, row := range s.rows {
		made := Row{Field: row.field}
		for _, c := range row.cells {
			made.Cells = append(made.Cells, r.cell(c, v))
		}
		out = append(out, made)
	}
	return out
}

func (r *Runbook) cell(c cell, v Vars) Cell {
	out := Cell{Source: c.source, Expr: strings.TrimSpace(c.expr.src)}
	got := r.eval(c.expr, v)
	if c.expr.typ == nil { // a document that does not compile
		out.Value = steps.Unknown(steps.String, got.why)
		return out
	}
	out.Steps = r.stepsOf(c.expr)
	typ, _ := r.cellType(c.expr)
	if !got.known() {
		out.Value = steps.Unknown(typ, got.why)
		return out
	}
	val, err := typed(typ, got.val)
	if err != nil {
		val = steps.Unknown(typ, err.Error())
	}
	out.Value = val
	return out
}

// ComparisonFacts are what a comparison gives to later expressions. What hangs on
// a field that cannot be told is unknown.
func ComparisonFacts(rows []triage.Compared) map[string]steps.Value {
	n, drift := triage.Tally(rows)
	var differ, unread []string
	for _, row := range rows {
		switch row.Judge().Is {
		case triage.Differs:
			differ = append(differ, row.Field)
		case triage.Unknown:
			unread = append(unread, row.Field)
		}
	}
	out := map[string]steps.Value{
		"agree":  steps.BoolOf(n.Differ == 0),
		"differ": steps.StringsOf(differ),
		"drift":  steps.EnumOf(string(drift)),
	}
	if len(unread) == 0 {
		return out
	}
	why := "not every source could be read of " + strings.Join(unread, ", ")
	for _, f := range comparisonFacts() {
		// One field that differs settles that not all agree.
		if f.Name != "agree" || n.Differ == 0 {
			out[f.Name] = steps.Unknown(f.Type, why)
		}
	}
	return out
}

// Sources lists the columns of a compare step, nil for a step without rows.
func (s Step) Sources() []string {
	var out []string
	for _, row := range s.rows {
		for _, c := range row.cells {
			if !slices.Contains(out, c.source) {
				out = append(out, c.source)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return order(a) - order(b) })
	return out
}
