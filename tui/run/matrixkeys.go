package run

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// compared is the comparison in front, nil where there is none to walk in.
func (r *Screen) compared(env *screen.Env) *grid {
	st, _ := r.step()
	if st.Kind != triage.CompareStep || len(st.Rows) == 0 || r.Facts || r.Closed() && !env.Replaying() {
		return nil
	}
	return r.gridOf(env, st)
}

// PressMatrix takes the keys that walk in a comparison, and says whether it took
// this one. Nothing is picked at first, so that enter alone goes on.
func (r *Screen) PressMatrix(env *screen.Env, msg tea.KeyPressMsg) (tea.Cmd, bool) {
	k := &env.Keys
	g := r.compared(env)
	if g == nil {
		return nil, false
	}
	r.Row = min(r.Row, len(g.rows)-1)
	switch picked := r.Row >= 0; {
	case key.Matches(msg, k.Down):
		r.pick(g, r.Row+1)
	case key.Matches(msg, k.Up):
		r.pick(g, r.Row-1)
	case !picked:
		return nil, false
	case key.Matches(msg, k.Left):
		r.sideways(g, -1)
	case key.Matches(msg, k.Right):
		r.sideways(g, 1)
	case key.Matches(msg, k.Esc):
		r.Row = -1
	case key.Matches(msg, k.Enter):
		return r.lookAtCell(env, g), true
	default:
		return nil, false
	}
	return nil, true
}

// pick goes to a field; above the first nothing is picked.
func (r *Screen) pick(g *grid, row int) {
	row = min(row, len(g.rows)-1)
	if row != r.Row && row >= 0 {
		r.col = g.rows[row].first()
	}
	r.Row, r.follow = max(row, -1), true
}

// sideways goes to the next source that the field has.
func (r *Screen) sideways(g *grid, by int) {
	cells := g.rows[r.Row].cells
	for i := r.col + by; i >= 0 && i < len(cells); i += by {
		if !cells[i].none {
			r.col, r.follow = i, true
			return
		}
	}
}

// lookAtCell shows the entry that the picked cell stands on; back returns here.
func (r *Screen) lookAtCell(env *screen.Env, g *grid) tea.Cmd {
	c := g.rows[r.Row].cells[r.col]
	if len(c.from) == 0 {
		env.Warn("", ink.Say("%s is not based on an entry: %s", c.source, c.expr))
		return nil
	}
	return env.Ask(screen.OpenEntry{Seq: slices.Max(c.from), Direct: true})
}

// cellLabel is what enter does while a field is picked.
func (r *Screen) cellLabel() (ink.Text, bool) {
	if r.Row < 0 || r.Grid == nil || r.Grid.step != r.Focus || r.Row >= len(r.Grid.rows) {
		return "", false
	}
	row := r.Grid.rows[r.Row]
	return ink.Say("Show the evidence: %s, %s", row.field, row.cells[min(r.col, len(row.cells)-1)].source), true
}
