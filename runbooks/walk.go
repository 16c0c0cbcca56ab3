package runbooks

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
)

// reader walks one runbook and gathers what is wrong with it.
type reader struct {
	strict.Reader
	lines [][]rune
	cat   steps.Catalog
	book  *Runbook
}

// value reads the text of a scalar as a value of type t.
func (r *reader) value(n *yaml.Node, what string, t steps.Type) (steps.Value, bool) {
	s := r.Text(n, what)
	if s == "" {
		return steps.Value{}, false
	}
	v, err := steps.ParseValue(t, s)
	if err != nil {
		r.Fail(n, "it is of the type "+string(t), "%s: %v", what, err)
		return steps.Value{}, false
	}
	return v, true
}

// locate returns the line and column of a rune inside the text of a scalar: the
// exact place where the text stands in one line or in a literal block as it is,
// else the beginning of the scalar.
func (r *reader) locate(n *yaml.Node, offset int) (line, col int) {
	value := []rune(n.Value)
	offset = min(max(offset, 0), len(value))
	if n.Style&yaml.LiteralStyle != 0 {
		before := string(value[:offset])
		row := n.Line + 1 + strings.Count(before, "\n")
		if row <= len(r.lines) {
			text := strings.TrimSuffix(string(value), "\n")
			start := strings.LastIndex(before, "\n") + 1
			current, _, _ := strings.Cut(text[min(start, len(text)):], "\n")
			if i := strings.Index(string(r.lines[row-1]), current); i >= 0 {
				return row, i + 1 + len([]rune(before[start:]))
			}
		}
		return n.Line, n.Column
	}
	if n.Line >= 1 && n.Line <= len(r.lines) && n.Column >= 1 && n.Column <= len(r.lines[n.Line-1]) {
		rest := r.lines[n.Line-1][n.Column-1:]
		for i := 0; i < 2 && i <= len(rest); i++ {
			if strings.HasPrefix(string(rest[i:]), n.Value) {
				return n.Line, n.Column + i + offset
			}
		}
	}
	return n.Line, n.Column
}

func (r *reader) duration(n *yaml.Node, what string) time.Duration {
	if n == nil {
		return 0
	}
	v, ok := r.value(n, what, steps.Duration)
	if ok && v.Duration() <= 0 {
		r.Fail(n, "as in 20s", "%s must be greater than zero", what)
	}
	return v.Duration()
}

// part reads the keys of what stands inside.
func (r *reader) part(n *yaml.Node, what string) map[string]*yaml.Node {
	return r.Fields(n, what, parts(what)...)
}
