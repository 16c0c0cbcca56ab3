package gate

import (
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// closedWhy is why the gate in front was closed. Where the things in its way are
// listed below, it only counts them.
func (g *Modal) closedWhy(env *screen.Env, why ink.Text) ink.Text {
	n := 0
	listed := g.refused
	if len(listed) == 0 {
		listed = g.Gate.Refusals
	}
	for _, r := range listed {
		if strings.Contains(string(why), string(ink.Shown(r.Why))) {
			n++
		}
	}
	if n < 2 {
		return env.InWords(g.Step, string(why))
	}
	return ink.Say("Blocked by %d things.", n)
}

// needs lists what stands in the way, and what would meet it.
func (g *Modal) needs(env *screen.Env, p *ink.Page) {
	th := p.Theme
	need := func(why, cure string, number ink.Text) {
		lead := th.Warn.On("✗ ")
		if number != "" {
			lead += th.Key.On(number) + " "
		}
		p.Folded(lead, th.Plain, env.InWords(g.Step, why), g.lines(), ink.Shown(env.Keys.View.Help().Key))
		if cure := env.Cure(g.Step, why, cure); cure != "" {
			p.Folded("  "+th.Muted.On("→ "), th.Plain, cure, g.lines(), ink.Shown(env.Keys.View.Help().Key))
		}
	}
	refusals := g.refusals(env)
	met := g.goes(env)
	free := func(o steps.Owner) bool { return o.Paused != "yes" && g.answeredFor(env, o) == nil }
	if len(refusals)+len(g.Gate.Preview.Unmet) > 0 || slices.ContainsFunc(g.Gate.Preview.Owners, free) {
		p.Gap()
		p.Head("BLOCKED BY")
	}
	if until := incident.Until(env.Now, refusals); until != "" {
		p.Item(th.Warn.On("! "), th.Strong, until)
	}
	seen := map[string]bool{}
	for _, r := range refusals {
		if r.Law == 12 && g.Armed() { // the owner says more of itself
			continue
		}
		if !seen[r.Why] {
			need(r.Why, r.Cure, env.MetKey(g.Step, r, met))
		}
		seen[r.Why] = true
	}
	for _, n := range g.Gate.Preview.Unmet {
		if !seen[n.Why] {
			need(n.Why, n.Cure, "")
		}
		seen[n.Why] = true
	}
	for _, o := range g.Gate.Preview.Owners {
		if free(o) {
			need(undoes(o), o.How, "")
		}
	}
}

// undoes says what is known of an owner that is not paused for sure.
func undoes(o steps.Owner) string {
	if o.Paused == "no" {
		return o.Name + " may undo this: it is not paused."
	}
	return o.Name + " may undo this: whether it is paused is not known."
}

// owners says who cannot undo the act now, and for whom a person answers.
func (g *Modal) owners(env *screen.Env, p *ink.Page) {
	for _, o := range g.Gate.Preview.Owners {
		switch w := g.answeredFor(env, o); {
		case o.Paused == "yes":
			p.Item(p.Theme.Good.On("✓ "), p.Theme.Plain, ink.Say("%s is paused and cannot undo this.", o.Name))
		case w != nil:
			p.Item(p.Theme.Warn.On("! "), p.Theme.Plain, ink.Say("%s %s answers for it: %s", undoes(o), w.Person, w.Why))
		}
	}
}

// answeredFor is the waiver of an owner, nil where there is none in force.
func (g *Modal) answeredFor(env *screen.Env, o steps.Owner) *triage.Waiver {
	if slices.ContainsFunc(env.Snap.Options, func(x triage.Option) bool { return g.waives(x) && x.Subject == o.Name }) {
		return nil
	}
	ws := env.Snap.State.Waivers
	i := slices.IndexFunc(ws, func(w triage.Waiver) bool { return w.Law == 12 && (w.Subject == o.Name || w.Subject == g.Step) })
	if i < 0 {
		return nil
	}
	return &ws[i]
}
