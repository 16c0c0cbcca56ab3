package tui

import (
	"fmt"
	"strings"

	"handrail/triage"
)

// drawMatrix draws a comparison: fields by sources, and in a sign and in words
// whether they agree. The field that is picked shows all of what it stands on.
func (m *model) drawMatrix(p *page, st triage.Step) {
	if len(st.Rows) == 0 {
		return
	}
	g := m.run.gridOf(st, m.cellText)
	l := g.layout(p.w)
	p.gap()
	if !l.blocks {
		head := blank(l.name + 6)
		for i, c := range g.cols {
			head += fit(p.th.muted.on(c), l.cols[i]) + "  "
		}
		p.add(head)
	}
	for i := range g.rows {
		picked := -1
		if i == m.run.row {
			picked = m.run.col
		}
		if l.blocks {
			m.drawBlock(p, &g.rows[i], picked)
		} else {
			m.drawLine(p, l, &g.rows[i], picked)
		}
	}
}

// drawLine draws a field in one line, and below it what was picked.
func (m *model) drawLine(p *page, l matrixLayout, r *gridRow, picked int) {
	th := p.th
	mk := th.agreement(r.judged)
	row := m.drawField(p, r, mk, picked >= 0, l.name)
	for i, w := range l.cols {
		row += "  " + fit(r.cells[i].short(th), w)
	}
	switch {
	case l.beside:
		p.add(row + "  " + mk.ink.on(mk.word))
	default:
		p.add(row)
		if r.judged.Is == triage.Differs && picked < 0 {
			p.add(blank(4) + mk.ink.on(mk.word))
		}
	}
	if picked >= 0 {
		if !l.beside {
			p.add(blank(4) + mk.ink.on(mk.word))
		}
		m.drawSides(p, r, picked)
	}
}

// drawBlock draws a field with a line for each source: columns would be too narrow.
func (m *model) drawBlock(p *page, r *gridRow, picked int) {
	mk := p.th.agreement(r.judged)
	row := m.drawField(p, r, mk, picked >= 0, cells(drawn(r.field)))
	if word := mk.ink.on(mk.word); cells(row)+2+cells(word) <= p.w {
		p.add(row + "  " + word)
	} else {
		p.add(row)
		p.add(blank(4) + word)
	}
	m.drawSides(p, r, picked)
}

func (m *model) drawField(p *page, r *gridRow, mk mark, picked bool, w int) drawn {
	lead, ink := blank(2), p.th.strong
	if picked {
		lead, ink = p.th.pick.on("▸ "), p.th.pick
	}
	return lead + mk.ink.on(mk.symbol) + " " + fit(ink.on(r.field), w)
}

// mostLines is how much of one value is shown; all of it is in the evidence.
const mostLines = 8

// drawSides draws what each source says, the picked one with what it stands on.
func (m *model) drawSides(p *page, r *gridRow, picked int) {
	th := p.th
	wide := 0
	for _, c := range r.cells {
		if !c.none {
			wide = max(wide, cells(drawn(c.source)))
		}
	}
	for i, c := range r.cells {
		if c.none {
			continue
		}
		lead, name := blank(4), th.muted
		if i == picked {
			lead, name = "  "+th.pick.on("▸ "), th.pick
			m.run.mark = len(p.rows)
		}
		said := page{w: p.w, th: th}
		said.item(lead+fit(name.on(c.source), wide)+"  ", c.ink(th), c.whole())
		if most := max(2, mostLines*min(1, picked+1)); len(said.rows) > most {
			said.rows = append(said.rows[:most-1], cut(blank(wide+6)+th.muted.on("… the rest is in the evidence"), p.w))
		}
		if i == picked {
			said.item(blank(wide+6), th.muted, c.stands())
		}
		p.rows = append(p.rows, said.rows...)
	}
}

// agreement is the sign of a verdict.
func (t theme) agreement(a triage.Agreement) mark {
	switch a.Is {
	case triage.Agrees:
		return mark{"=", shown(a.Word), t.good}
	case triage.Differs:
		return mark{"≠", shown(a.Word), t.bad}
	}
	return mark{"?", shown(a.Word), t.warn}
}

// short is a cell in its column.
func (c *gridCell) short(th *theme) drawn {
	switch {
	case c.none:
		return th.faint.on("·")
	case !c.known:
		return th.warn.on("? unknown")
	}
	return c.ink(th).on(c.value)
}

func (c *gridCell) whole() text {
	if c.known {
		return c.value
	}
	return say("? unknown: %s", c.value)
}

func (c *gridCell) ink(th *theme) ink {
	switch {
	case !c.known:
		return th.warn
	case c.odd:
		return th.bad
	}
	return th.plain
}

// stands says where a value comes from.
func (c *gridCell) stands() text {
	if len(c.from) == 0 {
		return c.expr + say(" · no entry")
	}
	word := "entry"
	if len(c.from) > 1 {
		word = "entries"
	}
	return c.expr + say(" · %s %s", word, strings.Trim(fmt.Sprint(c.from), "[]"))
}
