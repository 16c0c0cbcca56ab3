package tui

import (
	"encoding/json"
	"maps"
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
	top.head("FACTS")
	for _, st := range m.run.steps() {
		if len(st.Facts) > 0 && st.Kind != triage.CompareStep {
			m.drawStepFacts(&facts, st)
		}
	}
	if len(facts.rows) == 0 {
		facts.para(th.muted, "Nothing was read yet.")
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

func (m *model) drawOwed(p *page) {
	th := p.th
	open := slices.DeleteFunc(slices.Clone(m.run.snap.State.Debts), func(d triage.Debt) bool { return d.Settled.How == "paid" || d.Settled.How == "waived" })
	if len(open) > 0 {
		p.head("OWED")
	}
	for _, d := range open {
		word := text("○ ")
		if d.Settled.How == "carried" {
			word = say("carried by %s until %s: ", d.Settled.Owner, d.Settled.Until)
		}
		p.item(th.warn.on(word), th.plain, shown(d.Text))
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

func (m *model) drawStepFacts(p *page, st triage.Step) {
	th := p.th
	stale := drawn("")
	if st.Status == triage.Stale {
		stale = "  " + th.warn.on("! stale")
	}
	p.add(th.accent.on(short(st.ID)) + stale)
	var rows []pair
	for _, name := range slices.Sorted(maps.Keys(st.Facts)) {
		t, known := m.value(st.Facts[name])
		ink := th.plain
		if !known {
			t, ink = "? unknown: "+t, th.warn
		}
		rows = append(rows, pair{shown(name), t, ink})
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
