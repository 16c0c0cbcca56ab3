package run

import (
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// drawMiddle draws the step in front.
func (r *Screen) drawMiddle(env *screen.Env, w int) []ink.Drawn {
	p := ink.Page{W: w, Theme: &env.Theme}
	if r.Snap.Dead != "" {
		p.Item(env.Theme.Bad.On("✗ "), env.Theme.Bad, ink.Say("Nothing can be recorded any more: %s. Nothing will be read or changed. Leave, fix it, then resume.", r.Snap.Dead))
		p.Gap()
	}
	st, card := r.step()
	if st.ID == "" {
		p.Para(env.Theme.Muted, "This incident has no step yet.")
		return p.Rows
	}
	if r.roundShown() {
		r.drawRound(env, &p)
		return p.Rows
	}
	r.drawTitle(&p, st)
	if run, ok := r.Running(st.ID); ok {
		incident.DrawLive(&p, env.Now, run)
		p.Gap()
	}
	r.drawReading(env, &p, st.ID)
	if st.Kind == triage.WatchStep && st.Attempts > 0 {
		r.drawWatch(env, &p, st)
		p.Gap()
	}
	r.drawPassed(&p, st)
	if ret := r.Snap.State.Return; ret != "" {
		p.Item(env.Theme.Warn.On("! "), env.Theme.Plain, ink.Say("The loop proposes to go back to %s: %s", ret, r.Snap.State.ReturnWhy))
		p.Gap()
	}
	r.drawNoGate(env, &p)
	open := (st.Status == triage.Pending || st.Status == triage.Stale) && st.Kind != triage.GateStep && card.Aside == ""
	barred := r.Barred(st.ID)
	if word := st.Kind == triage.AskStep || st.Kind == triage.ManualStep; word && open && len(barred) > 0 {
		r.drawNeeds(&p, st, barred) // what it is about was not read: it is not asked
		return p.Rows
	}
	p.Para(env.Theme.Plain, ink.Block(card.Say))
	switch st.Kind {
	case triage.AskStep:
		r.drawAsk(env, &p, st, card)
	case triage.ConcludeStep:
		r.drawConclude(env, &p, st, card)
	case triage.GateStep:
		r.drawGateStep(env, &p, st)
	case triage.ManualStep:
		r.drawManual(&p, st, card)
		r.drawAdvice(&p, st.ID)
	}
	r.drawProbe(env, &p, st, card)
	if open {
		r.drawNeeds(&p, st, barred)
	}
	if st.Phase == triage.Verify && len(barred) == 0 && len(r.Snap.State.Plan().Proves) > 0 {
		r.drawConditions(&p)
	}
	r.drawNext(env, &p)
	return p.Rows
}

// drawTitle says what the step is and where it stands.
func (r *Screen) drawTitle(p *ink.Page, st triage.Step) {
	th := p.Theme
	mk := statusMark(th, st.Status, true)
	switch {
	case st.Status != triage.Pending:
	case r.Snap.Cards[st.ID].Aside != "":
		mk = asideMark(th)
	case len(r.Barred(st.ID)) > 0:
		mk = barredMark(th)
	}
	kind := ink.Text(st.Kind)
	if st.Heavy {
		kind += ", runs a program"
	}
	if st.Required {
		kind += ", required"
	}
	p.Add(ink.Spread(th.Muted.On(ink.Text(st.Phase)+" · "+kind), mk.Ink.On(mk.Symbol+" "+mk.Word), p.W))
	p.Para(th.Strong, r.Title(st.ID))
	p.Gap()
}

// drawProbe draws what a step saw or is about to look at.
func (r *Screen) drawProbe(env *screen.Env, p *ink.Page, st triage.Step, card view.Card) {
	th := p.Theme
	if _, ok := r.Running(st.ID); ok {
		return
	}
	if st.Kind == triage.WatchStep && st.Attempts == 0 {
		r.drawWatch(env, p, st)
	}
	r.drawWhere(env, p, card)
	if st.Summary != "" && len(st.Rows) == 0 && st.Kind != triage.GateStep { // a gate says it itself
		p.Gap()
		mk := statusMark(th, st.Status, false)
		if st.Kind == triage.WatchStep {
			mk = greenMark(th, st.Green)
		}
		p.Item(mk.Ink.On(mk.Symbol)+" ", th.Strong, ink.Shown(st.Summary))
	}
	if st.Kind == triage.CompareStep {
		r.DrawMatrix(env, p, st)
		drawShow(p, card.Show)
	}
	r.drawCutOff(env, p, st)
	own := card.Graph != nil && st.Kind != triage.AskStep
	if own {
		p.Gap()
		drawGraph(env, p, card.Graph, graphParts{what: true})
	}
	r.drawFindings(env, p, st)
	if own {
		drawReasons(p, card.Graph)
	}
	r.drawFollowUp(env, p, st)
	if st.Attempts == 0 && (st.Kind == triage.ProbeStep || st.Kind == triage.WatchStep || st.Kind == triage.CompareStep) {
		drawAhead(p, card)
	}
	if st.Command != "" {
		p.Head("THE SAME BY HAND")
		p.Item(th.Muted.On("$ "), th.Plain, ink.Shown(st.Command))
	}
}

// drawAhead says what a probe will read, before it does.
func drawAhead(p *ink.Page, card view.Card) {
	th := p.Theme
	p.Gap()
	var sides []ink.Pair
	for _, kv := range card.Rows {
		sides = append(sides, ink.Pair{Key: ink.Shown(kv.Key), Value: ink.Shown(kv.Value), Ink: th.Muted})
	}
	p.Pairs(2, 0, 20, sides)
	p.Para(th.Muted, ink.Block(card.Doc))
	for _, t := range card.Touches {
		p.Item(th.Muted.On("  · "), th.Muted, ink.Shown(t))
	}
	var rows []ink.Pair
	for _, kv := range card.With {
		rows = append(rows, ink.Pair{Key: ink.Shown(kv.Key), Value: ink.Shown(kv.Value), Ink: th.Plain})
	}
	p.Gap()
	p.Pairs(2, 0, 16, rows)
	for _, f := range card.Missing {
		p.Item(th.Warn.On("? "), th.Plain, ink.Say("%s must be known first", f))
	}
}

// drawWhere says which other context a step reads, and in the colour of its place
// where that is somewhere special.
func (r *Screen) drawWhere(env *screen.Env, p *ink.Page, card view.Card) {
	for _, kv := range card.With {
		if kv.Key != steps.ContextParam || kv.Value == "" {
			continue
		}
		lead := p.Theme.Muted.On("· ")
		if place := env.PlaceOf([]steps.KV{kv}); place != "" && r.Snap.State.Drill == "" {
			lead = p.Theme.ChipPlace.On(" "+ink.Clip(place, 16)+" ") + " "
		}
		p.Gap()
		p.Item(lead, p.Theme.Plain, ink.Say("It reads context %s, not the incident's own.", kv.Value))
	}
}
