package run

import (
	"handrail/session/view"
	"handrail/triage"
)

// Front brings a step to the front.
func (r *Screen) Front(id string) {
	if id != r.Focus {
		r.Focus, r.choice, r.Off, r.Facts, r.Row, r.whole = id, -1, 0, false, -1, false
		if !r.Round.on {
			r.Round = round{}
		}
	}
}

// step is the one in front.
func (r *Screen) step() (triage.Step, view.Card) {
	st, _ := r.Snap.State.Step(r.Focus)
	return st, r.Snap.Cards[r.Focus]
}
