package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
)

// compared is the comparison in front, nil where there is none to walk in.
func (r *runScreen) compared(env *Env) *grid {
	st, _ := r.step()
	if st.Kind != triage.CompareStep || len(st.Rows) == 0 || r.facts || r.closed() && !env.replaying() {
		return nil
	}
	return r.gridOf(env, st)
}

// pressMatrix takes the keys that walk in a comparison, and says whether it took
// this one. Nothing is picked at first, so that enter alone goes on.
func (r *runScreen) pressMatrix(env *Env, msg tea.KeyPressMsg) (tea.Cmd, bool) {
	k := &env.keys
	g := r.compared(env)
	if g == nil {
		return nil, false
	}
	r.row = min(r.row, len(g.rows)-1)
	switch picked := r.row >= 0; {
	case key.Matches(msg, k.Down):
		r.pick(g, r.row+1)
	case key.Matches(msg, k.Up):
		r.pick(g, r.row-1)
	case !picked:
		return nil, false
	case key.Matches(msg, k.Left):
		r.sideways(g, -1)
	case key.Matches(msg, k.Right):
		r.sideways(g, 1)
	case key.Matches(msg, k.Esc):
		r.row = -1
	case key.Matches(msg, k.Enter):
		return r.lookAtCell(env, g), true
	default:
		return nil, false
	}
	return nil, true
}

// pick goes to a field; above the first nothing is picked.
func (r *runScreen) pick(g *grid, row int) {
	row = min(row, len(g.rows)-1)
	if row != r.row && row >= 0 {
		r.col = g.rows[row].first()
	}
	r.row, r.follow = max(row, -1), true
}

// sideways goes to the next source that the field has.
func (r *runScreen) sideways(g *grid, by int) {
	cells := g.rows[r.row].cells
	for i := r.col + by; i >= 0 && i < len(cells); i += by {
		if !cells[i].none {
			r.col, r.follow = i, true
			return
		}
	}
}

// lookAtCell shows the entry that the picked cell stands on; back returns here.
func (r *runScreen) lookAtCell(env *Env, g *grid) tea.Cmd {
	c := g.rows[r.row].cells[r.col]
	if len(c.from) == 0 {
		env.warn("", ink.Say("%s stands on no entry: %s", c.source, c.expr))
		return nil
	}
	return env.Ask(OpenEntry{Seq: slices.Max(c.from), Direct: true})
}

// cellLabel is what enter does while a field is picked.
func (r *runScreen) cellLabel() (ink.Text, bool) {
	if r.row < 0 || r.grid == nil || r.grid.step != r.focus || r.row >= len(r.grid.rows) {
		return "", false
	}
	row := r.grid.rows[r.row]
	return ink.Say("Look at the evidence: %s, %s", row.field, row.cells[min(r.col, len(row.cells)-1)].source), true
}
