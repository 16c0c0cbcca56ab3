package plain

import (
	"strings"

	"handrail/session/report"
	"handrail/triage"
)

// compared says a comparison, one line a field: the verdict, then what each
// source says.
func (d *Dialogue) compared(rows []triage.Compared) {
	for _, r := range rows {
		var sides []string
		for _, s := range r.Sides {
			value := report.ValueText(s.Value)
			if !s.Value.Known() {
				value = "unknown (" + value + ")"
			}
			sides = append(sides, s.Source+" "+value)
		}
		d.sayf("      %s: %s; %s", r.Field, r.Judge().Word, strings.Join(sides, ", "))
	}
}
