package run

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// drawFacts draws what is known: conclusions, what is owed, the facts of each
// step and the newest evidence. In h lines the facts yield; 0 is no limit.
func (r *Screen) drawFacts(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	top, facts, low := ink.Page{W: w, Theme: th}, ink.Page{W: w, Theme: th}, ink.Page{W: w, Theme: th}
	r.drawTopics(&top)
	r.drawOwed(&top)
	find := r.find.words()
	if h == 0 && (len(find) > 0 || r.find.typing) { // of the whole list: what is looked for, and nothing around it
		top.Rows = nil
	}
	top.Head("FACTS")
	if line := r.find.edit.Search(th, w-4, r.find.typing); h == 0 && line != "" {
		top.Add(line)
	}
	low.Rows = append(low.Rows, "")
	r.drawNewest(&low)
	room := math.MaxInt
	if h > 0 {
		room = max(h-len(top.Rows)-len(low.Rows), 1)
	}
	for _, st := range r.factSteps(h > 0) {
		if len(facts.Rows) > room { // what has no room is not laid out
			break
		}
		if len(st.Facts) > 0 && st.Kind != triage.CompareStep {
			r.drawStepFacts(env, &facts, st, h == 0)
		}
	}
	switch {
	case len(facts.Rows) > 0:
	case h == 0 && len(find) > 0:
		facts.Para(th.Muted, "No match. Press esc to show all facts.")
	default:
		facts.Para(th.Muted, "Nothing was read yet.")
	}
	if h == 0 && len(find) > 0 {
		return append(top.Rows, facts.Rows...)
	}
	if len(facts.Rows) > room {
		facts.Rows = append(facts.Rows[:room-1], th.Muted.On("↓ more: f"))
	}
	return append(append(top.Rows, facts.Rows...), low.Rows...)
}

// factSteps are the steps whose facts are drawn. Beside a step they are cut off at
// the end of the pane: those of that step come first, then what was read last.
func (r *Screen) factSteps(beside bool) []triage.Step {
	all := r.Steps()
	if !beside {
		return all
	}
	out := slices.Clone(all)
	rank := func(st triage.Step) int64 {
		if st.ID == r.Focus {
			return math.MaxInt64
		}
		return st.EndSeq
	}
	slices.SortStableFunc(out, func(a, b triage.Step) int { return cmp.Compare(rank(b), rank(a)) })
	return out
}

func (r *Screen) drawOwed(p *ink.Page) {
	th := p.Theme
	open := slices.DeleteFunc(slices.Clone(r.Snap.State.Debts), func(d triage.Debt) bool { return d.Settled.How == "paid" || d.Settled.How == "waived" })
	if len(open) > 0 {
		p.Head("OWED")
	}
	for _, d := range open {
		p.Item(th.Warn.On("! "), th.Plain, ink.Shown(d.Text))
		if d.Settled.How == "carried" {
			p.Item("  ", th.Muted, ink.Say("carried by %s until %s", d.Settled.Owner, d.Settled.Until))
		}
	}
}

// drawNewest draws the newest entries, without those that only say that
// something began.
func (r *Screen) drawNewest(p *ink.Page) {
	th, line := p.Theme, r.Snap.State.Timeline
	p.Add(th.Muted.On("NEWEST EVIDENCE"))
	for i, n := len(line)-1, 0; i >= 0 && n < 6; i-- {
		if line[i].Type == "probe.start" {
			continue
		}
		n++
		p.Add(th.Muted.On(ink.Clock(line[i].At)) + "  " + th.Plain.On(incident.Gist(line[i])))
	}
}

// drawReview draws how far a review is, in place of what an incident concludes.
func (r *Screen) drawReview(p *ink.Page) {
	th := p.Theme
	var holds, gaps, open int
	for _, st := range r.Snap.State.Steps {
		switch value := st.Holds(); {
		case st.Kind != triage.AskStep || st.Retired:
		case value == "":
			open++
		case triage.Gapless(value):
			holds++
		default:
			gaps++
		}
	}
	p.Add(th.Muted.On("ANSWERED"))
	p.Pairs(0, 0, 12, []ink.Pair{
		{Key: "hold", Value: ink.Say("%d", holds), Ink: th.Strong}, {Key: "gaps", Value: ink.Say("%d", gaps), Ink: th.Strong}, {Key: "open", Value: ink.Say("%d", open), Ink: th.Muted},
	})
}

func (r *Screen) drawTopics(p *ink.Page) {
	th := p.Theme
	if r.Snap.State.Kind == triage.Readiness {
		r.drawReview(p)
		return
	}
	var rows []ink.Pair
	for _, t := range []triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicOwner, triage.TopicReverts} {
		c, ok := r.Snap.State.Topics[t]
		switch {
		case !ok && (t == triage.TopicMutation || t == triage.TopicClass):
			rows = append(rows, ink.Pair{Key: ink.Text(t), Value: "○ open", Ink: th.Muted})
		case !ok:
		case c.Value == triage.Unknown:
			rows = append(rows, ink.Pair{Key: ink.Text(t), Value: "? unknown", Ink: th.Warn})
		case c.Provisional:
			rows = append(rows, ink.Pair{Key: ink.Text(t), Value: ink.Shown(c.Value) + " (provisional)", Ink: th.Warn})
		default:
			rows = append(rows, ink.Pair{Key: ink.Text(t), Value: ink.Shown(c.Value), Ink: th.Strong})
		}
	}
	if len(rows) > 0 {
		p.Add(th.Muted.On("CONCLUDED"))
		p.Pairs(0, 0, 12, rows)
	}
}

func (r *Screen) drawStepFacts(env *screen.Env, p *ink.Page, st triage.Step, narrowed bool) {
	th := p.Theme
	find := r.find.words()
	stale := ink.Drawn("")
	if st.Status == triage.Stale {
		stale = "  " + th.Warn.On("! stale")
	}
	graph := r.Snap.Cards[st.ID].Graph
	if len(find) > 0 {
		graph = nil // the words may be those of any fact
	}
	facts := maps.Clone(st.Facts)
	if graph != nil {
		maps.DeleteFunc(facts, func(name string, _ triage.Value) bool { return graph.Of.Has(name) })
	}
	var rows []ink.Pair
	alike := map[string]int{}
	if !narrowed {
		alike = unknownAlike(facts)
	}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		v := facts[name]
		if !v.Known() && alike[v.Why()] > 0 {
			continue
		}
		t, known := valueText(env, v)
		pen := th.Plain
		if !known {
			t, pen = "? unknown: "+t, th.Warn
		}
		if !narrowed || form.HasWords(find, st.ID, name, string(t)) {
			rows = append(rows, ink.Pair{Key: ink.Shown(name), Value: t, Ink: pen})
		}
	}
	if len(rows) == 0 && len(alike) == 0 && graph == nil {
		return
	}
	p.Add(th.Accent.On(incident.Short(st.ID)) + stale)
	if graph != nil && (narrowed || st.ID != r.Focus) { // else it is drawn on the step beside
		drawGraph(env, p, graph, graphParts{what: narrowed, reasons: narrowed})
		p.Gap()
	}
	for _, why := range slices.Sorted(maps.Keys(alike)) {
		key := ink.Say("%d others", alike[why])
		if alike[why] == len(facts) {
			key = ink.Say("all %d", len(facts))
		}
		rows = append(rows, ink.Pair{Key: key, Value: "? unknown: " + ink.Shown(why), Ink: th.Warn})
	}
	p.Pairs(1, 0, 14, rows)
}

// mostAlike is how many facts of a step that are unknown for one reason are listed by name.
const mostAlike = 3

// unknownAlike counts the facts that are unknown by their reason, where they are all of
// them or more than mostAlike: a read that failed fills the pane once, not once for each.
func unknownAlike(facts map[string]triage.Value) map[string]int {
	alike := map[string]int{}
	for _, v := range facts {
		if !v.Known() {
			alike[v.Why()]++
		}
	}
	maps.DeleteFunc(alike, func(_ string, n int) bool { return n <= mostAlike && (n < len(facts) || n == 1) })
	return alike
}

// valueText writes a fact for people: durations and times in their units.
func valueText(env *screen.Env, v triage.Value) (ink.Text, bool) {
	if !v.Known() {
		return ink.Shown(v.Why()), false
	}
	switch v.Type() {
	case steps.Duration:
		return ink.Ago(v.Duration()), true
	case steps.Time:
		return ink.Clock(v.Time()) + " (" + ink.Ago(env.Now.Sub(v.Time())) + " ago)", true
	case steps.Bool:
		if v.Bool() {
			return "yes", true
		}
		return "no", true
	case steps.Strings:
		if len(v.Strings()) == 0 {
			return "none", true
		}
		var out ink.Text
		for i, s := range v.Strings() {
			if i > 0 {
				out += ", "
			}
			out += ink.Shown(s)
		}
		return out, true
	}
	return ink.Or(ink.Shown(v.Text()), "(empty)"), true
}
