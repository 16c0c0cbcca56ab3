package runbooks

import (
	"regexp"
	"slices"

	"cel.dev/cel-go/cel"
	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/triage"
)

var fieldForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._/\[\]-]{0,47}$`)

// rows reads what a compare step sets side by side: fields, and for each field
// one expression a source.
func (r *reader) rows(s *Step, n *yaml.Node) {
	if n == nil {
		return
	}
	const as = "as in: rows: {replicas: {desired: facts.git.replicas, actual: facts.live.replicas}}"
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.Fail(n, as, "rows must be a mapping of fields to their sources")
		return
	}
	var sources []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !fieldForm.MatchString(key.Value):
			r.Fail(key, "letters, digits, spaces and . _ / - [ ], at most 48", "field %q cannot be shown as one", key.Value)
			continue
		case value.Kind != yaml.MappingNode || len(value.Content) < 4:
			r.Fail(value, as, "field %q needs two sources at least", key.Value)
			continue
		case len(s.rows) == triage.MaxFields:
			r.Fail(key, "make it two steps", "more than %d fields", triage.MaxFields)
			return
		}
		out := row{field: key.Value}
		for j := 0; j+1 < len(value.Content); j += 2 {
			source := value.Content[j]
			if !idForm.MatchString(source.Value) || len(source.Value) > 16 {
				r.Fail(source, "desired, recorded, actual, or a short word of your own", "source %q must be small letters, digits and underscores, at most 16", source.Value)
				continue
			}
			if !slices.Contains(sources, source.Value) {
				if sources = append(sources, source.Value); len(sources) > triage.MaxSources {
					r.Fail(source, "make it two steps", "more than %d sources", triage.MaxSources)
				}
			}
			if e := r.expr(value.Content[j+1], source.Value, wantValue); e != nil {
				out.cells = append(out.cells, cell{source.Value, e})
			}
		}
		slices.SortStableFunc(out.cells, func(a, b cell) int { return order(a.source) - order(b.source) })
		s.rows = append(s.rows, out)
	}
	if s.ID == "" {
		return
	}
	for _, f := range comparisonFacts() {
		r.book.scope.add(variable{"facts." + s.ID + "." + f.Name, s.ID, f})
	}
}

// order puts the usual sources first, in the order in which a change travels.
func order(source string) int {
	usual := []string{triage.Desired, triage.Recorded, triage.Actual}
	if i := slices.Index(usual, source); i >= 0 {
		return i
	}
	return len(usual)
}

// comparisonFacts are what a comparison gives to later expressions.
func comparisonFacts() []steps.Field {
	drift := steps.Field{Name: "drift", Type: steps.Enum, Doc: "the direction that every differing field went"}
	for _, d := range triage.Drifts() {
		drift.Values = append(drift.Values, string(d))
	}
	return []steps.Field{
		{Name: "agree", Type: steps.Bool, Doc: "whether every field agrees"},
		{Name: "differ", Type: steps.Strings, Doc: "the fields that differ"},
		drift,
	}
}

// cells checks the types of all comparisons: only what has one type can agree.
func (r *reader) cells() {
	for i := range r.book.Steps {
		s := &r.book.Steps[i]
		for _, row := range s.rows {
			for n, c := range row.cells {
				line, col := r.locate(c.expr.node, c.expr.base)
				_, ok := r.book.cellType(c.expr)
				switch first := row.cells[0]; {
				case !ok:
					r.FailAt(line, col, "compare a number, a text, a time or a list", "%s of field %q is a %s, which cannot be compared", c.source, row.field, typeName(c.expr.typ))
				case n > 0 && !c.expr.typ.IsExactType(first.expr.typ):
					r.FailAt(line, col, "convert one of them, as with string(…)", "%s of field %q is a %s, %s is a %s",
						c.source, row.field, typeName(c.expr.typ), first.source, typeName(first.expr.typ))
				}
				if slices.ContainsFunc(c.expr.refs, func(name string) bool { return r.book.scope.vars[name].step == s.ID }) {
					r.FailAt(line, col, "name what a step reads", "%s of field %q is what this comparison gives itself", c.source, row.field)
				}
			}
		}
	}
}

// cellType is the type that the value of a cell is recorded with. A fact that
// stands alone keeps its own, so that an identifier stays one.
func (r *Runbook) cellType(e *expr) (steps.Type, bool) {
	if len(e.refs) == 1 && e.refs[0] == e.src {
		return r.scope.vars[e.src].field.Type, true
	}
	for _, t := range []steps.Type{steps.Bool, steps.Int, steps.String, steps.Duration, steps.Time, steps.Strings, steps.Table} {
		if e.typ.IsExactType(CELType(t)) {
			return t, true
		}
	}
	return "", e.typ.IsExactType(cel.StringType)
}
