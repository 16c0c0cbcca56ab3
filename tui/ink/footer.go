package ink

// Hint is one key in the footer: short words, so that a line holds many.
type Hint struct{ Key, Does Text }

// Footer draws as many keys as fit, and always the last ones: help and the way
// out.
func (t Theme) Footer(w int, hs []Hint, always ...Hint) Drawn {
	var end Drawn
	if len(always) > 0 {
		end = "   " + t.Footer(w, always)
	}
	var row Drawn
	for _, h := range hs {
		part := t.Key.On(h.Key) + " " + t.Muted.On(h.Does)
		if Cells(row)+Cells(part)+3 > w-Cells(end) {
			break
		}
		if row != "" {
			row += "   "
		}
		row += part
	}
	if end != "" {
		return Spread(row, end, w)
	}
	return row
}
