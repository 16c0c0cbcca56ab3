package tui

import "path/filepath"

// drawDebrief is what stays on the screen after the close.
func (m *model) drawDebrief(p *page) {
	th, s := p.th, m.run.snap.State
	mk := mark{"✓", "RECOVERED", th.good}
	if s.Outcome != "recovered" {
		mk = mark{"!", say("CLOSED AS %s", s.Outcome), th.warn}
	}
	p.add(mk.ink.on(mk.symbol) + " " + mk.ink.on(mk.word) + th.muted.on(say("  after %s", m.elapsed())))
	p.gap()
	p.para(th.strong, shown(s.Title))
	p.para(th.plain, say("%d entries are in the bundle. Nothing in it can be changed without being noticed.", s.Seq+1))
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
	p.head("THE REPORT")
	p.para(th.plain, shown(filepath.Join(m.run.snap.Bundle, "report.md")))
	p.head("CHECK IT YOURSELF")
	p.item(th.muted.on("$ "), th.plain, say("handrail bundle verify %s", m.run.snap.Bundle))
}
