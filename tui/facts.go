package tui

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// drawFacts draws what is known: conclusions, the facts of each step, debts and
// the newest evidence.
func (m *model) drawFacts(w int) []drawn {
	th, s := &m.th, m.run.snap.State
	p := page{w: w, th: th}
	m.drawTopics(&p)
	p.head("FACTS")
	none := true
	for _, st := range m.run.steps() {
		if len(st.Facts) > 0 {
			none = false
			m.drawStepFacts(&p, st)
		}
	}
	if none {
		p.para(th.muted, "Nothing was read yet.")
	}
	open := slices.DeleteFunc(slices.Clone(s.Debts), func(d triage.Debt) bool { return d.Settled.How == "paid" || d.Settled.How == "waived" })
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
	p.head("NEWEST EVIDENCE")
	last := s.Timeline[max(0, len(s.Timeline)-6):]
	for i := len(last) - 1; i >= 0; i-- {
		p.add(th.muted.on(clock(last[i].At)) + "  " + th.plain.on(gist(last[i])))
	}
	return p.rows
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
