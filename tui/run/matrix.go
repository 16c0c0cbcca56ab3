package run

import (
	"fmt"
	"strings"

	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// DrawMatrix draws a comparison: fields by sources, and in a sign and in words
// whether they agree. The field that is picked shows all of what it stands on.
func (r *Screen) DrawMatrix(env *screen.Env, p *ink.Page, st triage.Step) {
	if len(st.Rows) == 0 {
		return
	}
	g := r.gridOf(env, st)
	l := g.Layout(p.W)
	p.Gap()
	if !l.Blocks {
		head := ink.Blank(l.name + 6)
		for i, c := range g.cols {
			head += ink.Fit(p.Theme.Muted.On(c), l.cols[i]) + "  "
		}
		p.Add(head)
	}
	for i := range g.rows {
		picked := -1
		if i == r.Row {
			picked = r.col
		}
		if l.Blocks {
			r.drawBlock(p, &g.rows[i], picked)
		} else {
			r.drawLine(p, l, &g.rows[i], picked)
		}
	}
}

// drawLine draws a field in one line, and below it what was picked.
func (s *Screen) drawLine(p *ink.Page, l matrixLayout, r *gridRow, picked int) {
	th := p.Theme
	mk := agreementMark(th, r.judged)
	row := s.drawField(p, r, mk, picked >= 0, l.name)
	for i, w := range l.cols {
		row += "  " + ink.Fit(r.cells[i].short(th), w)
	}
	switch {
	case l.beside:
		p.Add(row + "  " + mk.Ink.On(mk.Word))
	default:
		p.Add(row)
		if r.judged.Is == triage.Differs && picked < 0 {
			p.Add(ink.Blank(4) + mk.Ink.On(mk.Word))
		}
	}
	if picked >= 0 {
		if !l.beside {
			p.Add(ink.Blank(4) + mk.Ink.On(mk.Word))
		}
		s.drawSides(p, r, picked)
	}
}

// drawBlock draws a field with a line for each source: columns would be too narrow.
func (s *Screen) drawBlock(p *ink.Page, r *gridRow, picked int) {
	mk := agreementMark(p.Theme, r.judged)
	row := s.drawField(p, r, mk, picked >= 0, ink.Cells(ink.Drawn(r.field)))
	if word := mk.Ink.On(mk.Word); ink.Cells(row)+2+ink.Cells(word) <= p.W {
		p.Add(row + "  " + word)
	} else {
		p.Add(row)
		p.Add(ink.Blank(4) + word)
	}
	s.drawSides(p, r, picked)
}

func (s *Screen) drawField(p *ink.Page, r *gridRow, mk ink.Mark, picked bool, w int) ink.Drawn {
	lead, pen := ink.Blank(2), p.Theme.Strong
	if picked {
		lead, pen = p.Theme.Pick.On("▸ "), p.Theme.Pick
	}
	return lead + mk.Ink.On(mk.Symbol) + " " + ink.Fit(pen.On(r.field), w)
}

// mostLines is how much of one value is shown; all of it is in the evidence.
const mostLines = 8

// drawSides draws what each source says, the picked one with what it stands on.
func (s *Screen) drawSides(p *ink.Page, r *gridRow, picked int) {
	th := p.Theme
	wide := 0
	for _, c := range r.cells {
		if !c.none {
			wide = max(wide, ink.Cells(ink.Drawn(c.source)))
		}
	}
	for i, c := range r.cells {
		if c.none {
			continue
		}
		lead, name := ink.Blank(4), th.Muted
		if i == picked {
			lead, name = "  "+th.Pick.On("▸ "), th.Pick
			s.mark = len(p.Rows)
		}
		said := ink.Page{W: p.W, Theme: th}
		said.Item(lead+ink.Fit(name.On(c.source), wide)+"  ", c.ink(th), c.whole())
		if most := max(2, mostLines*min(1, picked+1)); len(said.Rows) > most {
			said.Rows = append(said.Rows[:most-1], ink.Cut(ink.Blank(wide+6)+th.Muted.On("… the rest is in the evidence"), p.W))
		}
		if i == picked {
			said.Item(ink.Blank(wide+6), th.Muted, c.stands())
		}
		p.Rows = append(p.Rows, said.Rows...)
	}
}

// short is a cell in its column.
func (c *gridCell) short(th *ink.Theme) ink.Drawn {
	switch {
	case c.none:
		return th.Faint.On("·")
	case !c.known:
		return th.Warn.On("? unknown")
	}
	return c.ink(th).On(c.value)
}

func (c *gridCell) whole() ink.Text {
	if c.known {
		return c.value
	}
	return ink.Say("? unknown: %s", c.value)
}

func (c *gridCell) ink(th *ink.Theme) ink.Ink {
	switch {
	case !c.known:
		return th.Warn
	case c.odd:
		return th.Bad
	}
	return th.Plain
}

// stands says where a value comes from.
func (c *gridCell) stands() ink.Text {
	if len(c.from) == 0 {
		return c.expr + ink.Say(" · no entry")
	}
	word := "entry"
	if len(c.from) > 1 {
		word = "entries"
	}
	return c.expr + ink.Say(" · %s %s", word, strings.Trim(fmt.Sprint(c.from), "[]"))
}
