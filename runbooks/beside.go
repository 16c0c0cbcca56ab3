package runbooks

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/triage"
)

// A conclusion never contradicts the comparison beside it: that the states agree is
// proposed only while every field of every comparison agrees, but for the fields that
// the case names because they compare something else.

// beside gives what a case proposes, held against the comparisons of the runbook.
func (r *Runbook) beside(t triage.Topic, c conclusion, grounds []string, v Vars) (is string, stands []string, say string) {
	say = strings.TrimSpace(r.render(c.say, v))
	if t == triage.TopicOwner {
		if is, say = r.owner(c.is, say, v); c.reason != "" {
			say = strings.TrimSpace(say + " The table of domains names others: " + c.reason)
		}
		return is, grounds, say
	}
	if t != triage.TopicConsistent || c.is != "yes" {
		return c.is, grounds, say
	}
	differ, unread := r.disagreeing(c.despite, v)
	switch {
	case len(differ) > 0:
		return "no", append(grounds, differ...), "The comparison differs: " + strings.Join(differ, "; ") + "."
	case len(unread) > 0:
		return triage.Unknown, append(grounds, unread...), "not every source of the comparison could be read: " + strings.Join(unread, "; ")
	}
	return c.is, grounds, say
}

// disagreeing names the fields of the comparisons that differ now, and those that
// cannot be told, but for some.
func (r *Runbook) disagreeing(but []string, v Vars) (differ, unread []string) {
	for i := range r.Steps {
		s := &r.Steps[i]
		if len(s.rows) == 0 || r.Aside(s.ID, v) != "" {
			continue
		}
		for _, row := range r.Rows(s.ID, v) {
			if slices.Contains(but, row.Field) {
				continue
			}
			switch got := row.Judge(); got.Is {
			case triage.Differs:
				differ = append(differ, row.Field+": "+got.Word)
			case triage.Unknown:
				unread = append(unread, row.Field+": "+triage.Unknown)
			}
		}
	}
	return differ, unread
}

// Judge compares the sources of a field as they are now.
func (row Row) Judge() triage.Agreement {
	c := triage.Compared{Field: row.Field}
	for _, cell := range row.Cells {
		c.Sides = append(c.Sides, triage.Side{Source: cell.Source, Value: cell.Value})
	}
	return c.Judge()
}

// despite reads which fields do not speak against a case.
func (r *reader) despite(s *Step, is string, n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	if s.Topic != triage.TopicConsistent || is != "yes" {
		r.Fail(n, "remove it", "only a case that says the states agree can be despite a comparison")
		return nil
	}
	var fields, out []string
	for _, x := range r.book.Steps {
		for _, row := range x.rows {
			fields = append(fields, row.field)
		}
	}
	for _, item := range r.Items(n, "despite") {
		field := r.Text(item, "a field")
		if !slices.Contains(fields, field) {
			r.Fail(item, "one of "+strings.Join(fields, ", "), "no comparison before has a field %q", field)
			continue
		}
		out = append(out, field)
	}
	return out
}
