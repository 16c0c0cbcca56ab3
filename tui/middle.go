package tui

import (
	"slices"
	"strings"

	"handrail/session"
	"handrail/steps"
	"handrail/triage"
)

// drawMiddle draws the step in front.
func (m *model) drawMiddle(w int) []drawn {
	r := &m.run
	p := page{w: w, th: &m.th}
	if r.snap.Dead != "" {
		p.item(m.th.bad.on("✗ "), m.th.bad, say("Nothing can be recorded any more: %s. Nothing will be read or changed. Leave, mend it, then resume.", r.snap.Dead))
		p.gap()
	}
	st, card := r.step()
	if st.ID == "" {
		p.para(m.th.muted, "This incident has no step yet.")
		return p.rows
	}
	m.drawTitle(&p, st)
	if run, ok := r.running(st.ID); ok {
		m.drawLive(&p, run)
		p.gap()
	}
	m.drawReading(&p, st.ID)
	if st.Kind == triage.WatchStep && st.Attempts > 0 {
		m.drawWatch(&p, st)
		p.gap()
	}
	m.drawPassed(&p, st)
	if ret := r.snap.State.Return; ret != "" {
		p.item(m.th.warn.on("! "), m.th.plain, say("The loop proposes to go back to %s: %s", ret, r.snap.State.ReturnWhy))
		p.gap()
	}
	p.para(m.th.plain, block(card.Say))
	switch st.Kind {
	case triage.AskStep:
		m.drawAsk(&p, st, card)
	case triage.ConcludeStep:
		m.drawConclude(&p, st, card)
	case triage.GateStep:
		m.drawGateStep(&p, st)
	case triage.ManualStep:
		m.drawManual(&p, st, card)
	}
	m.drawProbe(&p, st, card)
	if open := st.Status == triage.Pending || st.Status == triage.Stale; open && st.Kind != triage.GateStep && card.Aside == "" {
		m.drawNeeds(&p, r.barred(st.ID))
	}
	if len(r.snap.Next) > 0 {
		p.head("ANOTHER RUNBOOK FITS BETTER NOW: b")
	}
	for _, l := range r.snap.Next {
		p.item(m.th.accent.on("→ ")+m.th.strong.on(shown(l.Runbook))+"  ", m.th.plain, shown(l.Why))
	}
	return p.rows
}

// drawTitle says what the step is and where it stands.
func (m *model) drawTitle(p *page, st triage.Step) {
	th := p.th
	mk := th.status(st.Status, true)
	if st.Status == triage.Pending && len(m.run.barred(st.ID)) > 0 {
		mk = th.barred()
	}
	kind := text(st.Kind)
	if st.Heavy {
		kind += ", runs a program"
	}
	if st.Required {
		kind += ", required"
	}
	p.add(spread(th.muted.on(text(st.Phase)+" · "+kind), mk.ink.on(mk.symbol+" "+mk.word), p.w))
	p.para(th.strong, m.run.title(st.ID))
	p.gap()
}

func (m *model) drawAsk(p *page, st triage.Step, card session.Card) {
	th, r := p.th, &m.run
	p.gap()
	if t := shown(card.Ask); t != r.title(st.ID) {
		p.para(th.strong, t)
	}
	if card.Aside != "" {
		p.item(th.muted.on("· "), th.muted, say("Not needed here: %s", card.Aside))
	}
	m.drawShow(p, card.Show)
	if card.Graph != nil {
		p.gap()
		m.drawGraph(p, card.Graph, graphParts{what: true})
		p.para(th.muted, say("Why each stands there: %s", m.keys.Facts.Help().Key))
	}
	p.gap()
	wide := len("I do not know")
	for _, c := range r.choices() {
		wide = max(wide, min(20, cells(drawn(shown(c.value)))))
	}
	line := func(k text, value, help text, picked, given bool) {
		lead, ink := drawn("  "), th.plain
		if picked {
			lead, ink = th.pick.on("▸ "), th.pick
		}
		if given {
			lead = th.good.on("✓ ")
		}
		p.item(lead+th.key.on(k)+"  "+fit(ink.on(value), wide)+"  ", th.muted, help)
	}
	for i, c := range r.choices() {
		line(say("%d", i+1), shown(c.value), c.help, i == r.choice, st.Answer == c.value)
	}
	line("u", "I do not know", "never taken for a no", false, st.Answer == triage.Unknown)
	if st.How != "" {
		p.gap()
		p.item(th.muted.on("how    "), th.plain, shown(st.How))
	} else if card.Evidence != "" {
		p.gap()
		p.item(th.muted.on("needs  "), th.muted, shown(card.Evidence))
	}
}

func (m *model) drawConclude(p *page, st triage.Step, card session.Card) {
	th := p.th
	p.gap()
	if c, ok := m.run.snap.State.Topics[triage.Topic(st.Uses)]; ok {
		word := drawn("")
		if c.Provisional {
			word = "  " + th.warn.on("provisional")
		}
		p.add(th.muted.on("concluded  ") + th.strong.on(shown(c.Value)) + word)
		if c.Why != "" {
			p.item(th.muted.on("because    "), th.plain, shown(c.Why))
		}
		if c.Contradicts != "" {
			p.item(th.warn.on("! "), th.plain, say("The decision matrix says otherwise: %s", c.Contradicts))
		}
		p.gap()
	}
	switch card.Proposed {
	case "", triage.Unknown:
		p.item(th.warn.on("? "), th.plain, say("The facts propose nothing for %s: it is unknown, which is not a no.", st.Uses))
	default:
		p.add(th.muted.on("proposed   ") + th.title.on(shown(card.Proposed)))
	}
	if card.Why != "" {
		p.item(blank(11), th.plain, shown(card.Why))
	}
	for _, g := range card.Grounds {
		p.item(blank(11)+th.muted.on("· "), th.muted, shown(g))
	}
	if st.Status != triage.Pending {
		return
	}
	p.gap()
	for _, v := range card.Values {
		p.item("  "+fit(th.plain.on(shown(v.Value)), 12)+"  ", th.muted, shown(v.Help))
	}
}

func (m *model) drawManual(p *page, st triage.Step, card session.Card) {
	p.gap()
	if card.Evidence != "" {
		p.item(p.th.muted.on("proof  "), p.th.plain, shown(card.Evidence))
	}
	if card.Practice != "" && st.Status == triage.Pending {
		p.item(p.th.muted.on("drill  "), p.th.plain, shown(card.Practice))
	}
	if st.How != "" {
		p.item(p.th.good.on("✓ "), p.th.plain, shown(st.How))
	}
}

// drawAgain says what stood of an act when its target was read again, or when
// that will be.
func drawAgain(p *page, s triage.State, g triage.GateState) {
	th := p.th
	switch g.Again.Outcome {
	case triage.Holds:
		p.item(th.good.on("✓ "), th.plain, say("Read again: it holds. %s", g.Again.Response))
	case triage.Undone:
		p.item(th.bad.on("✗ "), th.strong, say("Undone since. %s", g.Again.Response))
		p.para(th.plain, "Do not do it again before its writer is found and paused.")
	case triage.Unknown:
		p.item(th.warn.on("? "), th.plain, say("Nobody can tell whether it still holds. %s", g.Again.Response))
	}
	for _, again := range s.Rereads {
		if again.Step == g.Step {
			p.item(th.muted.on("· "), th.muted, say("Read again by itself at %s, in case somebody undoes it.", clock(again.Due)))
		}
	}
}

// drawGateStep says from the outside where a gate stands.
func (m *model) drawGateStep(p *page, st triage.Step) {
	th, r := p.th, &m.run
	p.gap()
	g := r.snap.State.Gates[st.ID]
	p.add(th.muted.on("class  ") + th.plain.on(shown(string(st.Class))) + th.muted.on("   this step can change something"))
	switch g.Phase {
	case triage.GateArmed, triage.GateConfirmed:
		if p.item(th.bad.on("! "), th.strong, m.armedWord(st.ID)); g.Shown.Second != nil {
			return // who is missing stands in its way
		}
	case triage.GateDone:
		p.item(th.good.on("✓ "), th.plain, say("Done. %s", g.Response))
		drawAgain(p, r.snap.State, g)
	case triage.GateFailed, triage.GateRefused, triage.GateUnknown:
		p.item(th.warn.on("! "), th.plain, say("Outcome %s. %s", g.Phase, g.Response))
	}
	o, ok := r.option(triage.DoPreview, st.ID)
	if again := slices.ContainsFunc(o.Refusals, func(f triage.Refusal) bool { return strings.Contains(g.Why, f.Why) }); g.Why != "" && !again {
		p.item(th.muted.on("last   "), th.plain, shown(g.Why)) // what still stands in its way is listed below
	}
	if aside := r.snap.Cards[st.ID].Aside; aside != "" {
		p.item(th.muted.on("· "), th.muted, say("Not needed here: %s", aside))
		return
	}
	if g.Phase == triage.GateDone {
		return
	}
	if !ok || o.Available() {
		p.para(th.muted, "Nothing stands in its way. g shows what it would do; that changes nothing.")
		return
	}
	m.drawNeeds(p, o.Refusals)
}

// drawShow draws the facts that a question is about: beside their names, and what
// is too long for that below its name, where it has the whole width.
func (m *model) drawShow(p *page, show []steps.KV) {
	if len(show) == 0 {
		return
	}
	const indent, most = 2, 24
	p.gap()
	wide := 0
	for _, kv := range show {
		wide = max(wide, min(most, cells(drawn(shown(kv.Key)))))
	}
	for len(show) > 0 {
		n := 1
		for n < len(show) && show[n].Key == "" {
			n++
		}
		long := slices.ContainsFunc(show[:n], func(kv steps.KV) bool { return cells(drawn(shown(kv.Value))) > p.w-indent-wide-2 })
		if long {
			p.item(blank(indent), p.th.muted, shown(show[0].Key))
		}
		for _, kv := range show[:n] {
			lead := blank(indent) + fit(p.th.muted.on(shown(kv.Key)), wide) + "  "
			if long {
				lead = blank(indent) + p.th.muted.on("· ")
			}
			p.item(lead, p.th.plain, or(shown(kv.Value), "unknown"))
		}
		show = show[n:]
	}
}

// drawProbe draws what a step saw or is about to look at.
func (m *model) drawProbe(p *page, st triage.Step, card session.Card) {
	th := p.th
	if _, ok := m.run.running(st.ID); ok {
		return
	}
	if st.Kind == triage.WatchStep && st.Attempts == 0 {
		m.drawWatch(p, st)
	}
	m.drawWhere(p, card)
	if st.Summary != "" && len(st.Rows) == 0 && st.Kind != triage.GateStep { // a gate says it itself
		p.gap()
		mk := th.status(st.Status, false)
		if st.Kind == triage.WatchStep {
			mk = th.green(st.Green)
		}
		p.item(mk.ink.on(mk.symbol)+" ", th.strong, shown(st.Summary))
	}
	if st.Kind == triage.CompareStep {
		m.drawMatrix(p, st)
		m.drawShow(p, card.Show)
	}
	m.drawCutOff(p, st)
	own := card.Graph != nil && st.Kind != triage.AskStep
	if own {
		p.gap()
		m.drawGraph(p, card.Graph, graphParts{what: true})
	}
	m.drawFindings(p, st)
	if own {
		drawReasons(p, card.Graph)
	}
	m.drawFollowUp(p, st)
	if st.Attempts == 0 && (st.Kind == triage.ProbeStep || st.Kind == triage.WatchStep || st.Kind == triage.CompareStep) {
		drawAhead(p, card)
	}
	if st.Command != "" {
		p.head("THE SAME BY HAND")
		p.item(th.muted.on("$ "), th.plain, shown(st.Command))
	}
}

func (m *model) drawFindings(p *page, st triage.Step) {
	th := p.th
	if len(st.Findings) > 0 {
		p.gap()
	}
	for _, f := range sortedFindings(st.Findings) {
		mk := th.level(f.Level)
		p.item(fit(mk.ink.on(mk.symbol+" "+mk.word), 12), th.plain, shown(f.Say))
		if names := shuts(st, f); names != "" {
			p.item(fit("", 12)+th.muted.on("→ "), th.muted, names)
		}
	}
	if len(st.Gaps) > 0 {
		p.head("COULD NOT BE CHECKED")
	}
	for _, g := range st.Gaps {
		p.item(th.warn.on("? "), th.plain, shown(g))
	}
}

// shuts says what a finding keeps shut, "" for nothing.
func shuts(st triage.Step, f triage.Finding) text {
	if len(f.Against) == 0 || f.Unsure {
		return ""
	}
	if slices.Contains(st.Overruled, f.Say) {
		return "a person overruled it"
	}
	var gates []string
	for _, id := range f.Against {
		if id != triage.Closing {
			gates = append(gates, string(short(id)))
		}
	}
	if len(gates) == 0 {
		return "no close as recovered over it"
	}
	return say("keeps shut: %s", strings.Join(gates, ", "))
}

// drawAhead says what a probe will read, before it does.
func drawAhead(p *page, card session.Card) {
	th := p.th
	p.gap()
	var sides []pair
	for _, kv := range card.Rows {
		sides = append(sides, pair{shown(kv.Key), shown(kv.Value), th.muted})
	}
	p.pairs(2, 0, 20, sides)
	p.para(th.muted, block(card.Doc))
	for _, t := range card.Touches {
		p.item(th.muted.on("  · "), th.muted, shown(t))
	}
	var rows []pair
	for _, kv := range card.With {
		rows = append(rows, pair{shown(kv.Key), shown(kv.Value), th.plain})
	}
	p.gap()
	p.pairs(2, 0, 16, rows)
	for _, f := range card.Missing {
		p.item(th.warn.on("? "), th.plain, say("%s must be known first", f))
	}
}

// sortedFindings puts the worst first and keeps the order otherwise.
func sortedFindings(fs []triage.Finding) []triage.Finding {
	rank := map[string]int{"critical": 0, "warning": 1}
	at := func(f triage.Finding) int {
		if n, ok := rank[f.Level]; ok {
			return n
		}
		return 2
	}
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b triage.Finding) int { return at(a) - at(b) })
	return out
}
