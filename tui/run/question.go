package run

import (
	"slices"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// doubt is what a reading found that speaks against the answer to a question, and which reading.
func (r *Screen) doubt(ask string) (found ink.Text, by string) {
	for i := range r.Snap.State.Steps {
		st := &r.Snap.State.Steps[i]
		for _, f := range st.Speaking() {
			if slices.Contains(f.Doubts, ask) {
				return ink.Shown(f.Say), st.ID
			}
		}
	}
	return "", ""
}

func (r *Screen) drawAsk(env *screen.Env, p *ink.Page, st triage.Step, card view.Card) {
	th := p.Theme
	p.Gap()
	if t := ink.Shown(card.Ask); t != r.Title(st.ID) {
		p.Para(th.Strong, t)
	}
	if card.Aside != "" {
		p.Item(th.Muted.On("· "), th.Muted, "Not needed here. "+r.InWords(st.ID, card.Aside))
	}
	if o, ok := r.Recommended(); ok && o.Kind == triage.DoAnswer && o.Step == st.ID && st.Answer != "" {
		why := ink.Text("Answered before, and too old for what comes next: answer it again.")
		switch f, by := r.doubt(st.ID); {
		case by != "":
			why = ink.Say("Its answer does not fit what %s found: %s", incident.Short(by), f)
		case st.Answer == triage.Unknown:
			why = "It was unknown when it was asked, and a gate waits for it. Is it known now?"
		}
		p.Item(th.Warn.On("! "), th.Warn, why)
	}
	drawShow(p, card.Show)
	if card.Graph != nil {
		p.Gap()
		drawGraph(env, p, card.Graph, graphParts{what: true})
		p.Para(th.Muted, ink.Say("Why each is in this place: %s", env.Keys.Facts.Help().Key))
	}
	p.Gap()
	agrees := ""
	if st.Answer == "" {
		agrees = r.agrees()
	}
	if agrees != "" {
		p.Add(th.Muted.On("proposed   ") + th.Title.On(ink.Shown(agrees)))
		drawGrounds(p, card)
		p.Gap()
	}
	wide := max(len("I do not know"), form.Column(r.choices(), p.W-7))
	line := func(k ink.Text, value, help ink.Text, picked, given bool) {
		lead, pen := ink.Drawn("  "), th.Plain
		if picked {
			lead, pen = th.Pick.On("▸ "), th.Pick
		}
		if given {
			lead = th.Good.On("✓ ")
		}
		p.Item(lead+th.Key.On(k)+"  "+ink.Fit(pen.On(value), wide)+"  ", th.Muted, help)
	}
	r.pinned[0] = len(p.Rows)
	for i, c := range r.choices() {
		line(ink.Say("%d", i+1), ink.Shown(c.Value), c.Help, i == r.choice || r.choice < 0 && c.Value == agrees, st.Answer == c.Value)
	}
	line("u", "I do not know", "never counts as a no", false, st.Answer == triage.Unknown)
	r.pinned[1] = len(p.Rows)
	if st.How != "" {
		p.Gap()
		p.Item(th.Muted.On("how    "), th.Plain, ink.Shown(st.How))
	} else if card.Evidence != "" {
		p.Gap()
		p.Item(th.Muted.On("needs  "), th.Muted, ink.Shown(card.Evidence))
	}
}

func (r *Screen) drawConclude(env *screen.Env, p *ink.Page, st triage.Step, card view.Card) {
	th := p.Theme
	p.Gap()
	if c, ok := r.Snap.State.Topics[triage.Topic(st.Uses)]; ok {
		word := ink.Drawn("")
		if c.Provisional {
			word = "  " + th.Warn.On("provisional")
		}
		p.Add(th.Muted.On("concluded  ") + th.Strong.On(ink.Shown(c.Value)) + word)
		if c.Why != "" {
			p.Item(th.Muted.On("because    "), th.Plain, ink.Shown(c.Why))
		}
		if c.Contradicts != "" {
			p.Item(th.Warn.On("! "), th.Plain, ink.Say("The decision matrix disagrees: %s", c.Contradicts))
		}
		p.Gap()
	}
	switch card.Proposed {
	case "", triage.Unknown:
		p.Item(th.Warn.On("? "), th.Plain, ink.Say("The facts propose nothing for %s: it is unknown, which is not a no.", st.Uses))
	default:
		p.Add(th.Muted.On("proposed   ") + th.Title.On(ink.Shown(card.Proposed)))
	}
	drawGrounds(p, card)
	if lack := triage.Unproven(r.Snap.State); st.Uses == string(triage.TopicClass) && len(lack) > 0 && card.Proposed != triage.EvidenceIncomplete {
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("Beside it the evidence is incomplete. Something changed without %s.", triage.UnprovenLine(lack)))
	}
	if all := r.together(); len(all) > 1 && all[0].Step == st.ID {
		p.Gap()
		for _, o := range all[1:] {
			p.Add(th.Muted.On("with it    ") + th.Plain.On(ink.Shown(string(o.Topic))) + "  " + th.Title.On(ink.Shown(o.Value)))
			p.Item(ink.Blank(11), th.Muted, ink.Shown(r.Snap.Cards[o.Step].Why))
		}
		p.Gap()
		p.Para(th.Muted, ink.Say("Enter accepts them all; %s accepts this one alone, %s decides otherwise.", env.Keys.Accept.Help().Key, env.Keys.Override.Help().Key))
		return
	}
	if st.Status != triage.Pending {
		return
	}
	p.Gap()
	var values []form.Choice
	for _, v := range card.Values {
		values = append(values, form.Choice{Value: v.Value, Help: ink.Shown(v.Help)})
	}
	wide := max(12, form.Column(values, p.W-4))
	for _, v := range values {
		p.Item("  "+ink.Fit(th.Plain.On(ink.Shown(v.Value)), wide)+"  ", th.Muted, v.Help)
	}
}

// drawGrounds says why something is proposed, and on what.
func drawGrounds(p *ink.Page, card view.Card) {
	if card.Why != "" {
		p.Item(ink.Blank(11), p.Theme.Plain, ink.Shown(card.Why))
	}
	for _, g := range card.Grounds {
		p.Item(ink.Blank(11)+p.Theme.Muted.On("· "), p.Theme.Muted, ink.Shown(g))
	}
}

// drawManual draws a step that is done outside.
func (r *Screen) drawManual(p *ink.Page, st triage.Step, card view.Card) {
	p.Gap()
	if card.Evidence != "" {
		p.Item(p.Theme.Muted.On("proof  "), p.Theme.Plain, ink.Shown(card.Evidence))
	}
	if card.Practice != "" && st.Status == triage.Pending {
		p.Item(p.Theme.Muted.On("drill  "), p.Theme.Plain, ink.Shown(card.Practice))
	}
	if st.How != "" {
		p.Item(p.Theme.Good.On("✓ "), p.Theme.Plain, ink.Shown(st.How))
	}
}

// drawShow draws the facts that a question is about: beside their names, and what
// is too long for that below its name, where it has the whole width.
func drawShow(p *ink.Page, show []steps.KV) {
	if len(show) == 0 {
		return
	}
	const indent, most = 2, 24
	p.Gap()
	wide := 0
	for _, kv := range show {
		wide = max(wide, min(most, ink.Cells(ink.Drawn(ink.Shown(kv.Key)))))
	}
	for len(show) > 0 {
		n := 1
		for n < len(show) && show[n].Key == "" {
			n++
		}
		long := slices.ContainsFunc(show[:n], func(kv steps.KV) bool { return ink.Cells(ink.Drawn(ink.Shown(kv.Value))) > p.W-indent-wide-2 })
		if long {
			p.Item(ink.Blank(indent), p.Theme.Muted, ink.Shown(show[0].Key))
		}
		for _, kv := range show[:n] {
			lead := ink.Blank(indent) + ink.Fit(p.Theme.Muted.On(ink.Shown(kv.Key)), wide) + "  "
			if long {
				lead = ink.Blank(indent) + p.Theme.Muted.On("· ")
			}
			p.Item(lead, p.Theme.Plain, ink.Or(ink.Shown(kv.Value), "unknown"))
		}
		show = show[n:]
	}
}
