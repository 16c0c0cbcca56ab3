package run

import (
	"slices"
	"strings"

	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// noGate reports whether the call came to its repair, and no gate opens for it.
func (r *Screen) noGate() bool {
	_, _, none := r.Snap.NoGate()
	return none
}

// drawNoGate says that no gate opens for the repair, and how one by hand is recorded.
func (r *Screen) drawNoGate(env *screen.Env, p *ink.Page) {
	head, list, none := r.Snap.NoGate()
	if !none {
		return
	}
	th := p.Theme
	p.Item(th.Warn.On("! "), th.Strong, ink.Say("%s", head))
	for _, u := range list {
		p.Item("  ", th.Muted, ink.Shown(u))
	}
	p.Item("  ", th.Plain, ink.Say("What is repaired by hand, with kubectl, tofu or elsewhere, is recorded with %s: what, to which object, by whom, and the read that shows it.", env.Keys.ByHand.Help().Key))
	p.Gap()
}

// drawGateStep says from the outside where a gate stands.
func (r *Screen) drawGateStep(env *screen.Env, p *ink.Page, st triage.Step) {
	th := p.Theme
	p.Gap()
	g := r.Snap.State.Gates[st.ID]
	p.Add(th.Muted.On("class  ") + th.Plain.On(ink.Shown(string(st.Class))) + th.Muted.On("   this step can change something"))
	if sc, ok := triage.ScopeOf(st.Uses); ok {
		p.Item(th.Muted.On("scope  "), th.Plain, ink.Say("stops %s", sc.Reach))
	}
	r.drawAdvice(p, st.ID)
	r.drawDifference(p, st)
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
	case refused && len(g.Refuses) > 0 && (!ok || o.Available()):
		p.Para(th.Muted, ink.Say("Its answers and facts hold. It refuses the value of %s: give another one.", strings.Join(g.Refuses, ", ")))
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

// drawAdvice says what the decision matrix prefers where a transition is made, and why the
// runbook goes another way, in its own words.
func (r *Screen) drawAdvice(p *ink.Page, step string) {
	a, ok := r.Snap.State.Advice(step)
	if !ok {
		return
	}
	p.Item(p.Theme.Muted.On("matrix "), p.Theme.Muted, ink.Shown(a.Line()))
	switch {
	case a.Why != "":
		p.Item(p.Theme.Warn.On("! "), p.Theme.Plain, ink.Say("Another way here: %s", a.Why))
	case a.Departs:
		p.Item(p.Theme.Warn.On("! "), p.Theme.Plain, "Another way here, and the runbook does not say why.")
	}
}

// drawDifference says what is known of the difference before the record is written.
func (r *Screen) drawDifference(p *ink.Page, st triage.Step) {
	if !slices.Contains(triage.RecordKinds(), st.Uses) || r.Snap.State.Gates[st.ID].Phase != triage.GateIdle {
		return
	}
	for _, d := range r.Snap.State.Drifted() {
		if d.Answer == "" {
			p.Item(p.Theme.Warn.On("? "), p.Theme.Plain, ink.Say("%s Nothing answers it yet.", d.Ask))
			continue
		}
		p.Item(p.Theme.Good.On("✓ "), p.Theme.Muted, ink.Say("%s %s", d.Ask, d.Answer))
	}
}

// drawConditions lists in verify what shows the recovery, post-condition by post-condition.
func (r *Screen) drawConditions(p *ink.Page) {
	th := p.Theme
	var rest []string
	p.Head("POST-CONDITIONS")
	for _, c := range triage.Conditions(r.Snap.State) {
		if c.Shown == triage.PCNotAsked {
			rest = append(rest, c.Code)
			continue
		}
		mark, pen := th.Warn.On("? "), th.Plain
		switch c.Shown {
		case triage.PCShown:
			mark, pen = th.Good.On("✓ "), th.Muted
		case triage.PCRed:
			mark = th.Bad.On("✗ ")
		case triage.PCAccepted:
			mark = th.Warn.On("! ")
		}
		p.Item(mark+th.Strong.On(ink.Shown(c.Code))+" ", pen, ink.Shown(c.Means)+ink.Shown(c.Because()))
	}
	if len(rest) > 0 {
		p.Item(th.Muted.On("· "), th.Muted, ink.Say("Not asked by this runbook: %s", strings.Join(rest, ", ")))
	}
}
