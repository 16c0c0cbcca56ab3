package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/session/debrief"
)

// aftermath is what is known of an incident after its close.
type aftermath struct {
	asked, judging bool
	drill          *debrief.Drill // nil for a real incident, and while it is judged
	err            text           // why the drill could not be judged
	seq            int64          // that of was made for
	of             *debrief.Debriefing
}

// judgedMsg says how a drill was judged.
type judgedMsg struct {
	inc   Incident
	drill *debrief.Drill
	err   error
}

// judge asks once, beside the loop, how the drill of a closed incident went.
func (m *model) judge() tea.Cmd {
	c := &m.run.after
	if c.asked || !m.run.closed() || m.replaying() || m.c.Debrief == nil {
		return nil
	}
	c.asked, c.judging = true, true
	inc := m.inc
	return m.crew.start(func(ctx context.Context) tea.Msg {
		d, err := m.c.Debrief(ctx, inc)
		return judgedMsg{inc, d, err}
	})
}

func (m *model) judged(msg judgedMsg) {
	if msg.inc != m.inc {
		return // of an incident that was left
	}
	c := &m.run.after
	c.judging, c.drill, c.of = false, msg.drill, nil
	if msg.err != nil {
		c.err = shown(msg.err.Error())
	}
}

// briefing is the debriefing of the state that is shown.
func (m *model) briefing() *debrief.Debriefing {
	c, s := &m.run.after, m.run.snap.State
	if c.of == nil || c.seq != s.Seq {
		of := debrief.Of(s, c.drill)
		c.of, c.seq = &of, s.Seq
	}
	return c.of
}

// drawDebrief is what stays on the screen after the close. It has the whole
// width, so that paths and commands can be copied.
func (m *model) drawDebrief(h int) []drawn {
	d := m.briefing()
	w := m.w - 2*inset
	if m.w < sideBySide {
		p := page{w: w, th: &m.th}
		m.debriefTop(&p, d)
		if d.Compared() {
			m.debriefPath(&p, d)
			m.debriefRest(&p, d)
		} else { // it teaches less, so that the report comes first
			m.debriefRest(&p, d)
			m.debriefPath(&p, d)
		}
		return m.scrolled(p.rows, h)
	}
	left, right := page{w: w*54/100 - 2, th: &m.th}, page{w: w - w*54/100 - 2, th: &m.th}
	rest := page{w: w, th: &m.th}
	m.debriefTop(&left, d)
	m.debriefPath(&right, d)
	right.rows = append([]drawn{""}, right.rows...)
	rest.add("")
	m.debriefRest(&rest, d)
	all := max(len(left.rows), len(right.rows))
	for _, p := range []*page{&left, &right} {
		for len(p.rows) < all {
			p.rows = append(p.rows, "")
		}
	}
	both := beside(m.th.faint.on("│")+" ", []int{left.w + 2, right.w}, left.rows, right.rows)
	return m.scrolled(append(both, rest.rows...), h)
}

// scrolled shows h rows of a screen that has no panes.
func (m *model) scrolled(rows []drawn, h int) []drawn {
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

// debriefTop says how it ended, whether a drill is won, how soon there was
// evidence and what had to be stopped.
func (m *model) debriefTop(p *page, d *debrief.Debriefing) {
	th, c := p.th, &m.run.after
	p.add("")
	mk := mark{"✓", "RECOVERED", th.good}
	if d.Outcome != "recovered" {
		mk = mark{"!", say("CLOSED AS %s", d.Outcome), th.warn}
	}
	p.add(mk.ink.on(mk.symbol) + " " + mk.ink.on(mk.word) + th.muted.on(say("  after %s", m.elapsed())))
	switch {
	case c.judging:
		p.item(th.accent.on("● "), th.accent, "Looking whether the drill is won …")
	case c.err != "":
		p.item(th.warn.on("! "), th.plain, say("The drill could not be judged: %s", c.err))
	case d.Drill != nil:
		m.debriefWon(p, d)
	}
	p.gap()
	m.debriefNext(p)
	p.head("HOW SOON")
	var rows []pair
	for _, x := range d.Marks {
		v, ink := say("%s", ago(x.After)), th.plain
		if !x.Reached {
			v, ink = "never", th.warn
		}
		if x.What == debrief.FirstAct {
			if !x.Reached {
				v, ink = "nothing was changed", th.plain
			}
			v += say(", %d pieces of evidence before", d.Evidence)
		}
		rows = append(rows, pair{shown(x.What), v, ink})
	}
	p.pairs(0, 0, 22, rows)
	p.head("UNSAFE ATTEMPTS STOPPED")
	for _, s := range d.Stopped {
		p.item(th.bad.on("✗ ")+th.strong.on(shown(s.Step))+th.muted.on(say("  after %s  ", ago(s.After))), th.plain, shown(s.Why))
	}
	if len(d.Stopped) == 0 {
		p.para(th.muted, "None: nothing unsafe was tried.")
	}
	if len(d.Hints) > 0 {
		p.head("ANOTHER WAY")
	}
	for _, h := range d.Hints {
		p.item(th.accent.on("→ "), th.plain, shown(h))
	}
}

// debriefWon says of a drill whether it is won, by each of its conditions.
func (m *model) debriefWon(p *page, d *debrief.Debriefing) {
	th := p.th
	mk := mark{"✗", "NOT WON", th.bad}
	switch {
	case !d.Drill.Judged:
		mk = mark{"!", "NOT JUDGED", th.warn}
	case d.Drill.Won:
		mk = mark{"✓", "WON", th.good}
	}
	p.add(mk.ink.on(mk.symbol+" "+mk.word) + th.muted.on(say("  drill %s", d.Drill.Name)))
	for _, c := range d.Drill.Conditions {
		if c.Holds {
			p.item("  "+th.good.on("✓ "), th.plain, shown(c.Condition))
			continue
		}
		p.item("  "+th.bad.on("✗ "), th.plain, shown(c.Condition))
		p.item(blank(4), th.muted, shown(c.Why))
	}
}

// debriefPath draws the path that was taken, beside that of the reference where
// there is one.
func (m *model) debriefPath(p *page, d *debrief.Debriefing) {
	th := p.th
	if !d.Compared() {
		p.head("YOUR PATH")
		for _, l := range d.Legs {
			p.add(th.muted.on(padded(ago(l.Yours.After), 8)) + "  " + m.stop(l.Yours))
		}
		return
	}
	p.gap()
	w := (p.w - 4) / 2
	p.add("  " + fit(th.muted.on("YOUR PATH"), w) + "  " + th.muted.on("THE REFERENCE"))
	for _, l := range d.Legs {
		mk := th.leg(l.Is)
		ref := drawn("")
		if l.Reference != nil {
			ref = m.stop(l.Reference)
		}
		you := drawn("")
		if l.Yours != nil {
			you = m.stop(l.Yours)
		}
		p.add(mk.ink.on(mk.symbol) + " " + fit(you, w) + "  " + cut(ref, w))
	}
	p.add(th.muted.on("= same  ≠ otherwise  ~ other order  + extra  – left out"))
}

// stop is one station of a path.
func (m *model) stop(s *debrief.Stop) drawn {
	th := &m.th
	d := th.muted.on(padded(shown(s.Do), 8)) + " " + th.plain.on(shown(s.Step))
	if s.Value != "" {
		d += " " + th.strong.on(shown(s.Value))
	}
	if s.Times > 1 {
		d += th.muted.on(say(" ×%d", s.Times))
	}
	return d
}

// padded pads a text; what is longer stays whole.
func padded(t text, w int) text { return t + text(blank(w-cells(drawn(t)))) }

// leg is the sign of a line of two paths.
func (t theme) leg(is string) mark {
	switch is {
	case debrief.Same:
		return mark{"=", "same", t.good}
	case debrief.Otherwise:
		return mark{"≠", "otherwise", t.bad}
	case debrief.Order:
		return mark{"~", "other order", t.warn}
	case debrief.LeftOut:
		return mark{"–", "left out", t.warn}
	}
	return mark{"+", "extra", t.muted}
}

// debriefRest says what is owed, what was changed, and where the report is.
func (m *model) debriefRest(p *page, d *debrief.Debriefing) {
	th, s := p.th, m.run.snap.State
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
	for _, w := range d.Waivers {
		p.item(th.warn.on("– "), th.plain, say("%s set aside %s: %s", w.Person, w.Of(), w.Why))
	}
	p.head("CHANGED BY HANDRAIL")
	for _, a := range d.Acts {
		p.item(th.strong.on(shown(a.Step))+"  ", th.plain, say("%s. %s", a.Outcome, a.Command))
	}
	if len(d.Acts) == 0 {
		p.para(th.muted, "Nothing: no gate acted.")
	}
	p.head("THE REPORT, AND A CHECK THAT NEEDS NO TRUST")
	p.para(th.plain, shown(session.ReportPath(m.run.snap.Bundle)))
	p.para(th.plain, say("handrail bundle verify %s", m.run.snap.Bundle))
	p.para(th.muted, say("%d entries, each chained to the one before it.", s.Seq+1))
}
