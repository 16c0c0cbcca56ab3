package report

import (
	"slices"

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
