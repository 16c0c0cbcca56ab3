package tui

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// drawFacts draws what is known: conclusions, what is owed, the facts of each
// step and the newest evidence. In h lines the facts yield; 0 is no limit.
func (m *model) drawFacts(w, h int) []drawn {
	th := &m.th
	top, facts, low := page{w: w, th: th}, page{w: w, th: th}, page{w: w, th: th}
	m.drawTopics(&top)
	m.drawOwed(&top)
	find := m.run.find.words()
	if h == 0 && (len(find) > 0 || m.run.find.typing) { // of the whole list: what is looked for, and nothing around it
		top.rows = nil
	}
	top.head("FACTS")
	if h == 0 {
		m.run.find.drawFind(&top)
	}
	for _, st := range m.factSteps(h > 0) {
		if len(st.Facts) > 0 && st.Kind != triage.CompareStep {
			m.drawStepFacts(&facts, st, h == 0)
		}
	}
	switch {
	case len(facts.rows) > 0:
	case h == 0 && len(find) > 0:
		facts.para(th.muted, "No fact has these words. esc shows all.")
	default:
		facts.para(th.muted, "Nothing was read yet.")
	}
	if h == 0 && len(find) > 0 {
		return append(top.rows, facts.rows...)
	}
	low.rows = append(low.rows, "")
	m.drawNewest(&low)
	if room := h - len(top.rows) - len(low.rows); h > 0 && len(facts.rows) > max(room, 1) {
		room = max(room, 1)
		more := len(facts.rows) - room + 1
		facts.rows = append(facts.rows[:room-1], th.muted.on(say("↓ %d more lines: f", more)))
	}
	return append(append(top.rows, facts.rows...), low.rows...)
}

// factSteps are the steps whose facts are drawn. Beside a step they are cut off at
// the end of the pane: those of that step come first, then what was read last.
func (m *model) factSteps(beside bool) []triage.Step {
	all := m.run.steps()
	if !beside {
		return all
	}
	out := slices.Clone(all)
	rank := func(st triage.Step) int64 {
		if st.ID == m.run.focus {
			return math.MaxInt64
		}
		return st.EndSeq
	}
	slices.SortStableFunc(out, func(a, b triage.Step) int { return cmp.Compare(rank(b), rank(a)) })
	return out
}

func (m *model) drawOwed(p *page) {
	th := p.th
	open := slices.DeleteFunc(slices.Clone(m.run.snap.State.Debts), func(d triage.Debt) bool { return d.Settled.How == "paid" || d.Settled.How == "waived" })
	if len(open) > 0 {
		p.head("OWED")
	}
	for _, d := range open {
		p.item(th.warn.on("! "), th.plain, shown(d.Text))
		if d.Settled.How == "carried" {
			p.item("  ", th.muted, say("carried by %s until %s", d.Settled.Owner, d.Settled.Until))
		}
	}
}

// drawNewest draws the newest entries, without those that only say that
// something began.
func (m *model) drawNewest(p *page) {
	th, line := p.th, m.run.snap.State.Timeline
	p.add(th.muted.on("NEWEST EVIDENCE"))
	for i, n := len(line)-1, 0; i >= 0 && n < 6; i-- {
		if line[i].Type == "probe.start" {
			continue
		}
		n++
		p.add(th.muted.on(clock(line[i].At)) + "  " + th.plain.on(gist(line[i])))
	}
}

func (m *model) drawTopics(p *page) {
	th := p.th
	var rows []pair
	for _, t := range []triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicOwner, triage.TopicReverts} {
		c, ok := m.run.snap.State.Topics[t]
		switch {
		case !ok && (t == triage.TopicMutation || t == triage.TopicClass):
			rows = append(rows, pair{text(t), "○ open", th.muted})
		case !ok:
		case c.Value == triage.Unknown:
			rows = append(rows, pair{text(t), "? unknown", th.warn})
		case c.Provisional:
			rows = append(rows, pair{text(t), shown(c.Value) + " (provisional)", th.warn})
		default:
			rows = append(rows, pair{text(t), shown(c.Value), th.strong})
		}
	}
	if len(rows) > 0 {
		p.add(th.muted.on("CONCLUDED"))
		p.pairs(0, 0, 12, rows)
	}
}

func (m *model) drawStepFacts(p *page, st triage.Step, narrowed bool) {
	th := p.th
	find := m.run.find.words()
	stale := drawn("")
	if st.Status == triage.Stale {
		stale = "  " + th.warn.on("! stale")
	}
	graph := m.run.snap.Cards[st.ID].Graph
	if len(find) > 0 {
		graph = nil // the words may be those of any fact
	}
	var rows []pair
	for _, name := range slices.Sorted(maps.Keys(st.Facts)) {
		if graph != nil && graph.Of.Has(name) {
			continue
		}
		t, known := m.value(st.Facts[name])
		ink := th.plain
		if !known {
			t, ink = "? unknown: "+t, th.warn
		}
		if !narrowed || hasWords(find, st.ID, name, string(t)) {
			rows = append(rows, pair{shown(name), t, ink})
		}
	}
	if len(rows) == 0 && graph == nil {
		return
	}
	p.add(th.accent.on(short(st.ID)) + stale)
	if graph != nil && (narrowed || st.ID != m.run.focus) { // else it is drawn on the step beside
		m.drawGraph(p, graph, graphParts{what: narrowed, reasons: narrowed})
		p.gap()
	}
	p.pairs(1, 0, 14, rows)
}

// value writes a fact for people: durations and times in their units.
func (m *model) value(v triage.Value) (text, bool) {
	if !v.Known() {
		return or(shown(v.Unknown), "not read"), false
	}
	b, err := json.Marshal(v)
	if err != nil {
		return shown(string(v.V)), true
	}
	var got steps.Value
	if err := json.Unmarshal(b, &got); err != nil {
		return shown(string(v.V)), true
	}
	switch got.Type() {
	case steps.Duration:
		return ago(got.Duration()), true
	case steps.Time:
		return clock(got.Time()) + " (" + ago(m.now.Sub(got.Time())) + " ago)", true
	case steps.Bool:
		if got.Bool() {
			return "yes", true
		}
		return "no", true
	case steps.Strings:
		if len(got.Strings()) == 0 {
			return "none", true
		}
		var out text
		for i, s := range got.Strings() {
			if i > 0 {
				out += ", "
			}
			out += shown(s)
		}
		return out, true
	}
	return or(shown(got.Text()), "(empty)"), true
}

func clock(t time.Time) text { return text(t.UTC().Format("15:04:05Z")) }
