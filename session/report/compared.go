package report

import (
	"fmt"
	"slices"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// comparedOf is the matrix of a compare step; nil where it has none.
func comparedOf(rows []triage.Compared) *Compared {
	if len(rows) == 0 {
		return nil
	}
	sources := triage.Sources(rows)
	out := &Compared{Sources: texts(sources)}
	for _, r := range rows {
		got := r.Judge()
		f := ComparedField{Field: line(r.Field), Is: line(got.Is), Word: line(got.Word)}
		for _, source := range sources {
			side, ok := r.Side(source)
			if !ok {
				f.Cells = append(f.Cells, ComparedCell{None: true})
				continue
			}
			f.Cells = append(f.Cells, ComparedCell{Value: line(shownValue(side.Value)), Known: side.Value.Known(), From: side.From})
			f.Entries = append(f.Entries, side.From...)
		}
		slices.Sort(f.Entries)
		f.Entries = slices.Compact(f.Entries)
		out.Fields = append(out.Fields, f)
	}
	return out
}

// agreement is the verdict on a field with its sign.
func (f ComparedField) agreement() string {
	sign := map[string]string{triage.Agrees: "=", triage.Differs: "≠"}[string(f.Is)]
	if sign == "" {
		sign = "?"
	}
	return sign + " " + string(f.Word)
}

// matrix draws a comparison as a table.
func (p *page) matrix(c *Compared) {
	if c == nil {
		return
	}
	p.line("")
	head := []string{"field"}
	for _, s := range c.Sources {
		head = append(head, md(s))
	}
	p.table(append(head, "", "entries")...)
	for _, f := range c.Fields {
		cells := []visible.Text{f.Field}
		for _, x := range f.Cells {
			switch {
			case x.None:
				cells = append(cells, "")
			case !x.Known:
				cells = append(cells, "unknown")
			default:
				cells = append(cells, x.Value)
			}
		}
		p.row(append(cells, visible.Line(f.agreement()), visible.Line(strings.Trim(fmt.Sprint(f.Entries), "[]")))...)
	}
}
