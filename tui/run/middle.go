package run

import (
	"slices"
	"strings"

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
	}
	r.drawProbe(env, &p, st, card)
	if open {
		r.drawNeeds(&p, st, barred)
	}
	r.drawNext(env, &p)
	return p.Rows
}

// noGate reports whether the call came to its repair, and no gate serves it.
func (r *Screen) noGate() bool {
	_, none := r.Snap.NoGate()
	return none
}

// drawNoGate says that no gate serves the repair, and how one by hand is recorded.
func (r *Screen) drawNoGate(env *screen.Env, p *ink.Page) {
	list, none := r.Snap.NoGate()
	if !none {
		return
	}
	th := p.Theme
	p.Item(th.Warn.On("! "), th.Strong, "No gate of this runbook serves the repair.")
	for _, u := range list {
		p.Item("  "+th.Muted.On(r.Title(u.Gate)+": "), th.Muted, ink.Shown(u.Why))
	}
	p.Item("  ", th.Plain, ink.Say("What is repaired by hand, with kubectl, tofu or elsewhere, is recorded with %s: what, to which object, by whom, and the read that shows it.", env.Keys.ByHand.Help().Key))
	p.Gap()
}

// drawTitle says what the step is and where it stands.
func (r *Screen) drawTitle(p *ink.Page, st triage.Step) {
	th := p.Theme
	mk := statusMark(th, st.Status, true)
	if st.Status == triage.Pending && len(r.Barred(st.ID)) > 0 {
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

func (r *Screen) drawAsk(env *screen.Env, p *ink.Page, st triage.Step, card view.Card) {
	th := p.Theme
	p.Gap()
	if t := ink.Shown(card.Ask); t != r.Title(st.ID) {
		p.Para(th.Strong, t)
	}
	if card.Aside != "" {
		p.Item(th.Muted.On("· "), th.Muted, "Not needed here. "+r.InWords(st.ID, card.Aside))
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
	wide := len("I do not know")
	for _, c := range r.choices() {
		wide = max(wide, min(20, ink.Cells(ink.Drawn(ink.Shown(c.Value)))))
	}
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
	for i, c := range r.choices() {
		line(ink.Say("%d", i+1), ink.Shown(c.Value), c.Help, i == r.choice || r.choice < 0 && c.Value == agrees, st.Answer == c.Value)
	}
	line("u", "I do not know", "never counts as a no", false, st.Answer == triage.Unknown)
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
	for _, v := range card.Values {
		p.Item("  "+ink.Fit(th.Plain.On(ink.Shown(v.Value)), 12)+"  ", th.Muted, ink.Shown(v.Help))
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

// drawGateStep says from the outside where a gate stands.
func (r *Screen) drawGateStep(env *screen.Env, p *ink.Page, st triage.Step) {
	th := p.Theme
	p.Gap()
	g := r.Snap.State.Gates[st.ID]
	p.Add(th.Muted.On("class  ") + th.Plain.On(ink.Shown(string(st.Class))) + th.Muted.On("   this step can change something"))
	switch g.Phase {
	case triage.GateArmed, triage.GateConfirmed:
		if p.Item(th.Bad.On("! "), th.Strong, env.ArmedWord(st.ID, env.Now, ink.Shown(env.Keys.Request.Help().Key))); g.Shown.Second != nil {
			return // who is missing stands in its way
		}
	case triage.GateDone:
		p.Item(th.Good.On("✓ "), th.Plain, ink.Say("Done. %s", strings.ReplaceAll(g.Response, "\n", " ")))
		incident.DrawAgain(p, r.Snap.State, g)
	case triage.GateFailed, triage.GateRefused, triage.GateUnknown:
		p.Item(th.Warn.On("! "), th.Plain, ink.Say("Outcome %s. %s", g.Phase, g.Response))
	}
	o, ok := r.Option(triage.DoPreview, st.ID)
	refused := g.WasRefused && g.Phase == triage.GateIdle
	switch again := slices.ContainsFunc(o.Refusals, func(f triage.Refusal) bool { return strings.Contains(g.Why, f.Why) }); {
	case g.Why == "" || again: // what still stands in its way is listed below
	case refused:
		p.Item(th.Warn.On("✗ "), th.Strong, ink.Say("Refused when it was last tried: %s", g.Why))
	default:
		p.Item(th.Muted.On("last   "), th.Plain, ink.Shown(g.Why))
	}
	if until := incident.Until(env.Now, r.Refused(st.ID)); until != "" && g.Phase == triage.GateIdle {
		p.Item(th.Warn.On("! "), th.Strong, until)
	}
	if aside := r.Snap.Cards[st.ID].Aside; aside != "" {
		p.Item(th.Muted.On("· "), th.Muted, "Not needed here. "+r.InWords(st.ID, aside))
		return
	}
	if g.Phase == triage.GateDone {
		return
	}
	switch {
	case g.Phase == triage.GateArmed || g.Phase == triage.GateConfirmed:
		return
	case refused && (!ok || o.Available()):
		p.Para(th.Muted, "The answers and facts allow it now. Only reading its target again shows whether that still refuses: g, then enter.")
		return
	case !ok || o.Available():
		p.Para(th.Muted, "The answers and facts allow it. g shows it; reading its target can still refuse.")
		return
	}
	r.drawNeeds(p, st, o.Refusals)
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

func (r *Screen) drawFindings(env *screen.Env, p *ink.Page, st triage.Step) {
	th := p.Theme
	if len(st.Findings) > 0 {
		p.Gap()
	}
	for _, f := range sortedFindings(st.Findings) {
		mk := th.Level(string(f.Level))
		p.Item(ink.Fit(mk.Ink.On(mk.Symbol+" "+mk.Word), 12), th.Plain, ink.Shown(f.Say))
		if names := shuts(st, f); names != "" {
			p.Item(ink.Fit("", 12)+th.Muted.On("→ "), th.Muted, names)
		}
	}
	if len(st.Gaps) > 0 {
		p.Head("COULD NOT BE CHECKED")
	}
	r.folded = false
	for _, g := range st.Gaps {
		if r.whole {
			p.Item(th.Warn.On("? "), th.Plain, ink.Shown(g))
			continue
		}
		cut := p.Folded(th.Warn.On("? "), th.Plain, ink.Shown(g), mostOfGap, ink.Shown(env.Keys.View.Help().Key))
		r.folded = r.folded || cut
	}
}

// mostOfGap is how many lines say why one thing could not be checked: a server says
// the same in as many as it likes.
const mostOfGap = 3

// unfold shows what was folded away on the step in front, and says whether there was
// anything.
func (r *Screen) unfold() bool {
	was := r.folded && !r.whole
	r.whole = r.whole || was
	return was
}

// shuts says what a finding keeps shut, "" for nothing.
func shuts(st triage.Step, f triage.Finding) ink.Text {
	if len(f.Against) == 0 || f.Unsure {
		return ""
	}
	if slices.Contains(st.Overruled, f.Say) {
		return "a person overruled it"
	}
	var gates []string
	for _, id := range f.Against {
		if id != triage.Closing {
			gates = append(gates, string(incident.Short(id)))
		}
	}
	if len(gates) == 0 {
		return "blocks closing as recovered"
	}
	return ink.Say("keeps shut: %s", strings.Join(gates, ", "))
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

// sortedFindings puts the worst first and keeps the order otherwise.
func sortedFindings(fs []triage.Finding) []triage.Finding {
	rank := map[steps.Level]int{steps.Critical: 0, steps.Warning: 1}
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
