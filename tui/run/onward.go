package run

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// How the walk goes on without a key for it: what is ready is read in one round,
// and once a person's word is recorded, what the loop wants next comes to the front.
// Only reads start by themselves, and no key decides before what came to the
// front could be seen.

// round is the reads that one enter began.
type round struct {
	steps []string // in the order in which they began
	on    bool     // more may follow from what was read
}

// shown says that the reads of a round stand in the middle together.
func (r *Screen) roundShown() bool {
	return len(r.Round.steps) > 1 && slices.Contains(r.Round.steps, r.Focus)
}

// drawRound draws what a round read: what speaks against something first, then each
// read in a line.
func (r *Screen) drawRound(env *screen.Env, p *ink.Page) {
	th := p.Theme
	type said struct {
		step string
		f    triage.Finding
	}
	var loud []said
	running, unsure := 0, 0
	for _, id := range r.Round.steps {
		st, _ := r.Snap.State.Step(id)
		if st.Status == triage.Running {
			running++
		}
		for _, f := range st.Findings {
			switch {
			case f.Unsure:
				unsure++
			case f.Level == steps.Critical || f.Level == steps.Warning:
				loud = append(loud, said{id, f})
			}
		}
	}
	state := th.Good.On("✓ read")
	if running > 0 {
		state = th.Accent.On("● reading")
	}
	st, _ := r.step()
	p.Add(ink.Spread(th.Muted.On(ink.Say("%s · %d reads", st.Phase, len(r.Round.steps))), state, p.W))
	p.Gap()
	slices.SortStableFunc(loud, func(a, b said) int {
		return cmp.Compare(string(a.f.Level), string(b.f.Level)) // critical, warning
	})
	for _, x := range loud {
		mk := th.Level(string(x.f.Level))
		p.Item(mk.Ink.On(mk.Symbol)+" "+th.Muted.On(incident.Short(x.step))+"  ", th.Plain, ink.Shown(x.f.Say))
		st, _ := r.Snap.State.Step(x.step)
		if names := shuts(st, x.f); names != "" {
			p.Item(th.Muted.On("  → "), th.Muted, names)
		}
	}
	if unsure > 0 {
		p.Item(th.Warn.On("? "), th.Muted, ink.Say("%d could not be judged: what they stand on was not read", unsure))
	}
	if len(loud)+unsure > 0 {
		p.Gap()
	}
	r.drawProposed(p)
	for _, id := range r.Round.steps {
		st, _ := r.Snap.State.Step(id)
		mk := statusMark(th, st.Status, false)
		lead := mk.Ink.On(mk.Symbol) + " " + th.Strong.On(r.Title(id)) + "  "
		if run, ok := r.Running(id); ok {
			p.Add(lead + incident.Progress(&env.Theme, env.Now, run))
			continue
		}
		if what := ink.Shown(st.Summary); ink.Cells(lead+th.Plain.On(what)) <= p.W {
			p.Add(lead + th.Plain.On(what))
		} else {
			p.Add(lead)
			p.Item("  ", th.Plain, what)
		}
		for _, f := range st.Findings {
			if f.Level != steps.Critical && f.Level != steps.Warning {
				p.Item("  "+th.Muted.On("· "), th.Muted, ink.Shown(f.Say))
			}
		}
		for _, g := range st.Gaps {
			p.Folded("  "+th.Warn.On("? "), th.Plain, ink.Shown(g), 2, ink.Shown(env.Keys.Next.Help().Key))
		}
	}
	p.Gap()
	p.Para(th.Muted, ink.Say("%s shows each by itself, with its command and its gaps.", env.Keys.Next.Help().Key))
}

// readRound starts every read that is ready, and what becomes ready by it.
func (r *Screen) readRound(env *screen.Env) tea.Cmd {
	r.Round, r.rounds = round{on: true}, true
	return r.ReadOn(env)
}

// Begin starts the first reads of a new incident, where nothing was done in it yet.
func (r *Screen) Begin(env *screen.Env) tea.Cmd {
	o, ok := r.Recommended()
	if st, _ := r.Snap.State.Step(o.Step); !ok || o.Kind != triage.DoProbe || st.Heavy || st.Kind != triage.ProbeStep || !r.Untouched() {
		return nil
	}
	defer r.Decide()
	return r.readRound(env)
}

// ReadOn starts what a round of reads has not read yet, and ends the round where
// nothing is left to start.
func (r *Screen) ReadOn(env *screen.Env) tea.Cmd {
	if !r.Round.on || len(env.Underway) > 0 {
		return nil
	}
	var ins []triage.Intent
	for _, st := range r.Ready() {
		if !slices.Contains(r.Round.steps, st.ID) {
			ins = append(ins, triage.Intent{Kind: triage.DoProbe, Step: st.ID})
			r.Round.steps = append(r.Round.steps, st.ID)
		}
	}
	if len(ins) > 0 {
		return env.SendAll(ins)
	}
	if !slices.ContainsFunc(r.Reading(), func(x view.Running) bool { return slices.Contains(r.Round.steps, x.Step) }) {
		if r.Round.on = false; len(r.proposed()) > 0 {
			env.Quiet = env.Now.Add(env.Config.Pause) // enter was for the reads
		}
		r.Decide()
	}
	return nil
}

// Said goes on after a person's word was recorded: what the loop wants next comes to
// the front, and stays a moment before a key decides there.
func (r *Screen) Said(env *screen.Env, in triage.Intent) {
	switch in.Kind {
	case triage.DoAnswer, triage.DoManual, triage.DoConclude, triage.DoWaive, triage.DoSkip, triage.DoSettle, triage.DoResolve, triage.DoDrift, triage.DoHand, triage.DoPlan:
	default:
		return
	}
	if r.Snap.State.Topics[in.Topic].Contradicts != "" {
		env.Quiet = env.Now.Add(env.Config.Pause)
		r.Decide()
		return // the decision matrix disagrees: that is to be read
	}
	r.Onward(env)
}

// Onward brings to the front what the loop wants next.
func (r *Screen) Onward(env *screen.Env) {
	defer r.Decide()
	env.Quiet = env.Now.Add(env.Config.Pause)
	o, ok := r.Recommended()
	if !ok || o.Step == "" {
		return
	}
	r.Front(o.Step)
	if st, _ := r.step(); r.rounds && o.Kind == triage.DoProbe && unread(st) && !st.Heavy && st.Kind == triage.ProbeStep {
		r.Round = round{on: true}
	}
}

// together are the conclusions that one enter accepts: the recommended one, and
// those after it for which nothing is left to read first.
func (r *Screen) together() []triage.Option {
	o, ok := r.Recommended()
	if !ok || o.Kind != triage.DoConclude || o.Step == "" || len(r.sheet()) > 0 {
		return nil
	}
	all := r.Steps()
	at := slices.IndexFunc(all, func(st triage.Step) bool { return st.ID == o.Step })
	var out []triage.Option
	for _, st := range all[max(0, at):] {
		open := st.Status == triage.Pending || st.Status == triage.Stale
		if open && (st.Kind == triage.ProbeStep || st.Kind == triage.CompareStep) && r.Snap.Cards[st.ID].Aside == "" && (st.Required || st.Kind == triage.CompareStep || r.Can(triage.DoProbe, st.ID)) {
			break
		}
		c, ok := r.Option(triage.DoConclude, st.ID)
		if !ok || !open || !c.Available() || st.Kind != triage.ConcludeStep {
			continue
		}
		if v := r.Proposed(c); v != "" && v != triage.Unknown {
			c.Value = v
			out = append(out, c)
		}
	}
	if len(out) == 0 || out[0].Step != o.Step {
		return nil
	}
	return out
}

// proposed are the conclusions that are accepted on the page of what a round read: all
// of them are new, and what they stand on is on that page.
func (r *Screen) proposed() []triage.Option {
	if !r.roundShown() || r.Round.on {
		return nil
	}
	all := r.together()
	if slices.ContainsFunc(all, func(o triage.Option) bool { _, was := r.Snap.State.Topics[o.Topic]; return was }) {
		return nil
	}
	return all
}

// drawProposed draws what enter accepts below what a round found.
func (r *Screen) drawProposed(p *ink.Page) {
	all := r.proposed()
	if len(all) == 0 {
		return
	}
	th := p.Theme
	p.Add(th.Title.On("PROPOSED") + th.Muted.On("  enter accepts"))
	for _, o := range all {
		p.Add("  " + ink.Fit(th.Muted.On(ink.Shown(string(o.Topic))), 11) + th.Title.On(ink.Shown(o.Value)))
		p.Item(ink.Blank(13), th.Muted, ink.Shown(r.Snap.Cards[o.Step].Why))
	}
	p.Gap()
}

// acceptTogether records what the facts propose for each.
func (r *Screen) acceptTogether(env *screen.Env, os []triage.Option) tea.Cmd {
	var ins []triage.Intent
	for _, o := range os {
		ins = append(ins, triage.Intent{Kind: triage.DoConclude, Step: o.Step, Topic: o.Topic, Value: o.Value})
	}
	return env.SendAll(ins)
}

// shorts lists steps by their short ids.
func shorts(all []triage.Step) ink.Text {
	var out []string
	for _, st := range all {
		out = append(out, string(incident.Short(st.ID)))
	}
	return ink.Shown(strings.Join(out, ", "))
}

// decided lists what several conclusions would be.
func decided(os []triage.Option) ink.Text {
	var out []string
	for _, o := range os {
		out = append(out, string(o.Topic)+" "+o.Value)
	}
	return ink.Shown(strings.Join(out, ", "))
}

// agrees is what the facts propose to the question in front, "" for nothing.
func (r *Screen) agrees() string {
	st, c := r.step()
	if st.Kind != triage.AskStep || c.Proposed == triage.Unknown {
		return ""
	}
	return c.Proposed
}

// agree records the answer that the facts propose, with what they say.
func (r *Screen) agree(env *screen.Env) tea.Cmd {
	_, c := r.step()
	return env.Send(triage.Intent{Kind: triage.DoAnswer, Step: r.Focus, Value: c.Proposed, Text: c.Agrees()})
}
