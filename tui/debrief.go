package tui

import "handrail/session"

// drawDebrief is what stays on the screen after the close. It has the whole
// width, so that paths and commands can be copied.
func (m *model) drawDebrief(h int) []drawn {
	p := page{w: m.w - 2*inset, th: &m.th}
	p.add("")
	m.debriefLines(&p)
	rows := p.rows
	for i := range rows {
		rows[i] = blank(inset) + rows[i]
	}
	all := len(rows)
	rows, m.run.off = window(rows, m.run.off, h)
	if more := all - m.run.off - h; more > 0 {
		rows[h-1] = blank(inset) + m.th.muted.on(say("↓ %d more lines: pgdn", more+1))
	}
	return rows
}

func (m *model) debriefLines(p *page) {
	th, s := p.th, m.run.snap.State
	mk := mark{"✓", "RECOVERED", th.good}
	if s.Outcome != "recovered" {
		mk = mark{"!", say("CLOSED AS %s", s.Outcome), th.warn}
	}
	p.add(mk.ink.on(mk.symbol) + " " + mk.ink.on(mk.word) + th.muted.on(say("  after %s", m.elapsed())))
	p.gap()
	p.para(th.plain, say("%d entries, each chained to the one before it.", s.Seq+1))
	p.head("THE REPORT, AND A CHECK THAT NEEDS NO TRUST")
	p.para(th.plain, shown(session.ReportPath(m.run.snap.Bundle)))
	p.para(th.plain, say("handrail bundle verify %s", m.run.snap.Bundle))
	p.head("OWED")
	none := true
	for _, d := range s.Debts {
		if d.Settled.How == "carried" {
			none = false
			p.item(th.warn.on("! "), th.plain, say("%s carries until %s: %s", d.Settled.Owner, d.Settled.Until, d.Text))
		}
	}
	if none {
		p.para(th.muted, "Nothing is left owing.")
	}
	m.debriefActs(p)
}

// debriefActs lists what was changed: on a good day one line, or none.
func (m *model) debriefActs(p *page) {
	th := p.th
	p.head("CHANGED BY HANDRAIL")
	none := true
	for _, st := range m.run.snap.State.Steps {
		if g, ok := m.run.snap.State.Gates[st.ID]; ok && g.StartSeq > 0 {
			none = false
			p.item(th.strong.on(short(st.ID))+"  ", th.plain, say("%s. %s", g.Phase, g.Shown.Command))
		}
	}
	if none {
		p.para(th.muted, "Nothing: no gate acted.")
	}
}
