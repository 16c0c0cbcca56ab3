package run

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// matrixLayout is how a comparison fits a width.
type matrixLayout struct {
	name   int
	cols   []int
	beside bool // the verdict stands at the end of the line
	Blocks bool // one block a field
}

// The widths between which a column is read at a glance.
const leastColumn, mostColumn = 9, 28

// Layout fits the comparison into w cells.
func (g *grid) Layout(w int) matrixLayout {
	l := matrixLayout{name: 5, cols: make([]int, len(g.cols))}
	verdict, all := 0, 0
	for _, r := range g.rows {
		l.name = max(l.name, min(20, ink.Cells(ink.Drawn(r.field))))
		verdict = max(verdict, ink.Cells(ink.Drawn(r.judged.Word)))
	}
	for i, c := range g.cols {
		l.cols[i] = ink.Cells(ink.Drawn(c))
		for _, r := range g.rows {
			l.cols[i] = max(l.cols[i], min(mostColumn, r.cells[i].wide))
		}
		all += l.cols[i] + 2
	}
	room := w - l.name - 4
	l.beside = all+verdict+2 <= room
	if l.beside || all <= room {
		return l
	}
	share := room/len(l.cols) - 2
	if share < leastColumn {
		l.Blocks = true
		return l
	}
	for i := range l.cols {
		l.cols[i] = min(l.cols[i], share)
	}
	return l
}

// grid is a comparison as text, worked out once for each.
type grid struct {
	step string
	seq  int64
	cols []ink.Text
	rows []gridRow
}

type gridRow struct {
	field  ink.Text
	judged triage.Agreement
	cells  []gridCell // by column
}

type gridCell struct {
	source, value, expr ink.Text
	known, none, odd    bool
	wide                int
	from                []int64
}

// gridOf is the comparison of a step as text.
func (r *Screen) gridOf(env *screen.Env, st triage.Step) *grid {
	if r.Grid != nil && r.Grid.step == st.ID && r.Grid.seq == st.EndSeq {
		return r.Grid
	}
	g := &grid{step: st.ID, seq: st.EndSeq}
	sources := triage.Sources(st.Rows)
	for _, s := range sources {
		g.cols = append(g.cols, ink.Shown(s))
	}
	for _, c := range st.Rows {
		row := gridRow{field: ink.Shown(c.Field), judged: c.Judge()}
		odd := oddOf(c)
		for _, source := range sources {
			side, ok := c.Side(source)
			cell := gridCell{source: ink.Shown(source), none: !ok, wide: 1}
			if ok {
				cell.value, cell.known = cellText(env, side.Value)
				cell.odd, cell.from, cell.expr = source == odd, side.From, ink.Shown(strings.ReplaceAll(side.Expr, "facts.", ""))
				if cell.wide = len("? unknown"); cell.known {
					cell.wide = ink.Cells(ink.Drawn(ink.Clip(cell.value, mostColumn+1)))
				}
			}
			row.cells = append(row.cells, cell)
		}
		g.rows = append(g.rows, row)
	}
	r.Grid = g
	return g
}

// oddOf is the source that differs from all the others, "" for none.
func oddOf(c triage.Compared) string {
	switch got := c.Judge(); got.Drift {
	case triage.ActualDrifted:
		return triage.Actual
	case triage.NotApplied:
		return triage.Desired
	case triage.RecordBehind:
		return triage.Recorded
	case triage.OneDiffers:
		return strings.TrimSuffix(got.Word, " differs")
	}
	return ""
}

// cellText writes a value without what changes by itself, as an age does.
func cellText(env *screen.Env, v triage.Value) (ink.Text, bool) {
	if v.Known() && v.Type() == steps.Time {
		return ink.Shown(v.Text()), true
	}
	t, known := valueText(env, v)
	return t, known
}

// first is the column to look at first: one that is unknown, else the odd one,
// else the first.
func (r *gridRow) first() int {
	for _, want := range []func(gridCell) bool{
		func(c gridCell) bool { return !c.none && !c.known },
		func(c gridCell) bool { return c.odd },
		func(c gridCell) bool { return !c.none },
	} {
		if i := slices.IndexFunc(r.cells, want); i >= 0 {
			return i
		}
	}
	return 0
}
