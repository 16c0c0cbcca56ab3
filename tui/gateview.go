package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
)

// roomy is the height above which a gate need not save lines.
const roomy = 30

// labelWidth is how wide the names at the left of a gate are; a longer one pushes
// its value.
const labelWidth = 13

// label pads a name at the left of a gate.
func label(d drawn) drawn { return d + blank(max(2, labelWidth-cells(d))) }

// gateRows writes names and values in the columns of the gate.
func (p *page) gateRows(in ink, kvs []steps.KV) {
	for _, kv := range kvs {
		p.item(label(p.th.muted.on(shown(kv.Key))), in, or(shown(kv.Value), "unknown"))
	}
}

// gateUndone says that somebody undid the act of the gate in front.
func (m *model) gateUndone() bool {
	return m.run.snap.State.Gates[m.gate.step].Again.Outcome == triage.Undone
}

// gateBox is the gate in at most most rows. Consequence, target and phrase always
// stand; what is between scrolls.
func (m *model) gateBox(most int) ([]drawn, *tea.Position) {
	th, g := &m.th, m.gate
	w := min(m.w, 104)
	inner := w - 4
	top := page{w: inner, th: th}
	m.gateTop(&top)
	low := page{w: inner, th: th}
	cur := m.gateLow(&low)
	mid := page{w: inner, th: th}
	alikeEnds := m.gateMiddle(&mid)

	h := most - 2
	if fits := max(2, h-len(low.rows)-2); len(top.rows) > fits {
		// A target that is too long for the screen scrolls; the phrase never does.
		cut := top.rows[fits:]
		for i := range alikeEnds {
			alikeEnds[i] += len(cut)
		}
		mid.rows = append(cut[:len(cut):len(cut)], mid.rows...)
		top.rows = top.rows[:fits]
	}
	room := h - len(top.rows) - len(low.rows)
	if most > roomy {
		room = min(room, len(mid.rows)+1)
	}
	rows := top.rows
	if room > 0 {
		all := len(mid.rows)
		var view []drawn
		view, g.off = window(mid.rows, g.off, room)
		if more := all - g.off - room; more > 0 {
			view[room-1] = m.more(more+1, alikeEnds, g.off+room-1)
		}
		rows = append(rows, view...)
	}
	if cur != nil {
		cur.Y += len(rows) + 1
		cur.X += 2
	}
	rows = append(rows, low.rows...)
	frame := th.danger
	if g.gate.Phase == triage.GateDone && !m.gateUndone() {
		frame = th.good // over: nothing dangerous waits here any more
	}
	return double(frame, rows, w), cur
}

// gateMiddle is what a careful person reads before typing: what stands in the
// way, what would change, what must not be mistaken for it, then the rest. It
// returns the rows on which look-alikes end.
func (m *model) gateMiddle(p *page) []int {
	th, g := p.th, m.gate
	pv := g.gate.Preview
	if m.h > roomy {
		p.rows = append(p.rows, "")
	}
	m.gateOutcome(p)
	if !g.armed() {
		m.gateApproved(p)
	}
	if g.why != "" && !g.reading {
		p.rows = append(p.rows, "")
		p.item(label(th.warn.on("! CLOSED")), th.strong, m.closedWhy(g.why))
	}
	for _, moved := range g.gate.Moved {
		p.item(label(th.bad.on("✗ MOVED")), th.plain, shown(moved))
	}
	m.gateNeeds(p)
	m.gateDiff(p)
	alikeEnds := m.gateAlike(p)
	m.gateOwners(p)
	if _, far := m.gateTarget(); len(far) > 0 {
		p.gap()
		p.gateRows(th.strong, far)
	}
	if rest := slices.DeleteFunc(slices.Clone(pv.Shown), alike); len(rest) > 0 && g.gate.Phase != triage.GateDone {
		p.gap()
		p.gateRows(th.plain, rest)
	}
	m.gateEvidence(p)
	p.gap()
	p.item(label(th.muted.on("exactly")), th.plain, shown(pv.Command))
	p.item(label(th.muted.on("undo")), th.plain, shown(pv.Undo))
	for _, d := range pv.Owes {
		p.item(label(th.muted.on("owes")), th.plain, shown(d.Text))
	}
	if pv.Request != pv.Command {
		p.item(label(th.muted.on("request")), th.plain, block(pv.Request))
	}
	m.gateVerdicts(p)
	return alikeEnds
}

func (m *model) gateEvidence(p *page) {
	th, g := p.th, m.gate
	if len(g.gate.Evidence) > 0 {
		p.head("STANDS ON")
	}
	wide := 0
	for _, e := range g.gate.Evidence {
		wide = max(wide, min(16, cells(drawn(short(e.Step)))))
	}
	for _, e := range g.gate.Evidence {
		age := "  " + th.muted.on(ago(m.now.Sub(e.At))+" old")
		lead := th.good.on("✓ ") + fit(th.muted.on(short(e.Step)), max(wide, 7)) + "  "
		p.add(spread(lead+th.plain.on(shown(e.Text))+" ", age, p.w))
	}
}

func (m *model) gateVerdicts(p *page) {
	th := p.th
	if len(m.gate.gate.Verdicts) > 0 {
		p.head("CONDITIONS OF THE RUNBOOK")
	}
	for _, v := range m.gate.gate.Verdicts {
		mk := mark{"✓", "true", th.good}
		if v.Result != "true" {
			mk = mark{"✗", shown(v.Result), th.warn}
		}
		p.item(mk.ink.on(mk.symbol+" "+mk.word)+"  ", th.muted, or(shown(v.Why), shown(v.Expr)))
	}
}

// closedWhy is why the gate in front was closed. Where the things in its way are
// listed below, it only counts them.
func (m *model) closedWhy(why text) text {
	g, n := m.gate, 0
	listed := g.refused
	if len(listed) == 0 {
		listed = g.gate.Refusals
	}
	for _, r := range listed {
		if strings.Contains(string(why), string(shown(r.Why))) {
			n++
		}
	}
	if n < 2 {
		return why
	}
	return say("%d things stand in its way.", n)
}

// gateNeeds lists what stands in the way, and what would meet it.
func (m *model) gateNeeds(p *page) {
	th, g := p.th, m.gate
	need := func(why, cure string, law int) {
		tail := text("")
		if law > 0 {
			tail = say("  (law %d)", law)
		}
		p.item(th.warn.on("✗ "), th.plain, shown(why)+tail)
		if cure != "" {
			p.item("  "+th.muted.on("→ "), th.plain, shown(cure))
		}
	}
	refusals := g.refused
	if len(refusals) == 0 {
		refusals = g.gate.Refusals
	}
	free := func(o steps.Owner) bool { return o.Paused != "yes" }
	if len(refusals)+len(g.gate.Preview.Unmet) > 0 || slices.ContainsFunc(g.gate.Preview.Owners, free) {
		p.rows = append(p.rows, "")
		p.head("STANDS IN THE WAY")
	}
	seen := map[string]bool{}
	for _, r := range refusals {
		if !seen[r.Why] {
			need(r.Why, r.Cure, r.Law)
		}
		seen[r.Why] = true
	}
	for _, n := range g.gate.Preview.Unmet {
		if !seen[n.Why] {
			need(n.Why, n.Cure, 0)
		}
		seen[n.Why] = true
	}
	for _, o := range g.gate.Preview.Owners {
		if free(o) {
			need("Owner "+o.Name+" may undo this: paused "+o.Paused+".", o.How, 12)
		}
	}
}

// gateOwners says who cannot undo the act now.
func (m *model) gateOwners(p *page) {
	for _, o := range m.gate.gate.Preview.Owners {
		if o.Paused == "yes" {
			p.item(p.th.good.on("✓ "), p.th.plain, say("%s is paused and cannot undo this.", o.Name))
		}
	}
}

func (m *model) gateOutcome(p *page) {
	th, g := p.th, m.gate
	if run, ok := m.run.running(g.step); ok {
		m.drawLive(p, run)
	}
	if g.gate.Response != "" {
		p.item(label(th.muted.on("answer")), th.plain, block(g.gate.Response))
	}
	after := g.gate.After
	if now := m.run.snap.State.Gates[g.step]; now.Phase == triage.GateDone {
		drawAgain(p, m.run.snap.State, now)
		if len(now.Again.After) > 0 {
			after = nil
			for _, kv := range now.Again.After {
				after = append(after, steps.KV(kv))
			}
		}
	}
	if len(after) > 0 {
		p.head("THE TARGET NOW")
		p.gateRows(th.plain, after)
		p.gap()
	}
}

// gateLow is the phrase, the line to type it on, and the keys.
func (m *model) gateLow(p *page) *tea.Position {
	th, g := p.th, m.gate
	var cur *tea.Position
	p.add(th.faint.on(line("─", p.w)))
	if n := g.noted; n.text != "" {
		p.item("", th.plain, n.text)
	}
	switch {
	case g.said.text != "":
		k := th.level(gateLevel(g.said.level))
		p.item(k.ink.on(k.symbol)+" ", th.plain, g.said.text)
	case g.gate.Wrong > 0 && g.armed():
		p.item(th.warn.on("! "), th.strong, m.wrongPhrase())
	}
	keys := []hint{{"enter", "back"}, {"r", "look again"}, {"esc", "back"}}
	if g.armed() {
		m.gateApproved(p)
	}
	switch {
	case m.waits():
		cur, keys = m.gateWaits(p)
	case g.sent:
		p.add(th.strong.on("Reading the target again, then acting if nothing moved …"))
		keys = []hint{{"esc", "leave this view; it goes on"}}
	case g.armed():
		p.item(th.muted.on("type     "), th.strong, shown(g.gate.Preview.Phrase))
		row, at := g.edit.draw(th.strong, p.w-9)
		p.add(th.danger.on("phrase ▸ ") + row)
		cur = &tea.Position{X: 9 + at, Y: len(p.rows) - 1}
		if g.edit.pasted {
			p.add(th.muted.on("         pasted, and recorded as such"))
		}
		keys = []hint{{"enter", "only with the phrase"}, {"esc", "disarm, nothing changes"}, {"pgdn", "more"}}
		if k := m.keys.noteKey(); k != "" {
			keys = slices.Insert(keys, 2, hint{k, "note"})
		}
	case m.replaying():
		if g.edit.value() != "" {
			p.item(th.muted.on("typed    "), th.strong, shown(g.edit.value()))
		}
	case m.run.acting():
		keys = []hint{{"i", "interrupt"}, {shown(m.keys.View.Help().Key), "what it prints"}, {"enter", "back; the act goes on"}}
	case g.gate.Phase == triage.GateDone:
		keys = []hint{{"enter", "go on"}}
	}
	if m.replaying() {
		return nil // what was typed then; the keys are below
	}
	p.add(th.footer(p.w, keys))
	return cur
}

// wrongPhrase passes on where the incident saw a difference.
func (m *model) wrongPhrase() text {
	g := m.gate.gate
	left := tries - g.Wrong
	unit := "tries"
	if left == 1 {
		unit = "try"
	}
	return say("The phrase differs at character %d. %d %s left, then the gate closes.", g.WrongAt, left, unit)
}

func gateLevel(l string) string {
	if l == "" {
		return "warning"
	}
	return l
}
