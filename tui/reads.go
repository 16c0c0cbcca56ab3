package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
	"handrail/tui/ink"
)

// ready are the reads that can be started together: those of the phase in front
// that were never tried and that nothing bars. What runs a program, what is
// sampled and what opens is started by itself.
func (r *runScreen) ready() []triage.Step {
	if r.closed() || r.snap.Dead != "" {
		return nil
	}
	cur, _ := r.step()
	return slices.DeleteFunc(r.steps(), func(st triage.Step) bool {
		return st.Phase != cur.Phase || st.Kind != triage.ProbeStep || st.Heavy || st.Attempts > 0 || st.Status != triage.Pending ||
			r.snap.Cards[st.ID].Aside != "" || !r.can(triage.DoProbe, st.ID)
	})
}

// readAll starts every read that is ready.
func (r *runScreen) readAll(env *Env) tea.Cmd {
	var ins []triage.Intent
	for _, st := range r.ready() {
		ins = append(ins, triage.Intent{Kind: triage.DoProbe, Step: st.ID})
	}
	if len(ins) == 0 {
		env.warn("", "No read of this phase is left that is ready and was never tried; r reads this step again.")
		return nil
	}
	return env.sendAll(ins)
}

// cancelAll stops every probe in flight; an act is never stopped by that.
func (r *runScreen) cancelAll(env *Env) tea.Cmd {
	var ins []triage.Intent
	for _, x := range r.reading() {
		ins = append(ins, triage.Intent{Kind: triage.DoCancel, Step: x.Step})
	}
	if len(ins) == 0 {
		env.warn("", "No probe is running.")
		return nil
	}
	return env.sendAll(ins)
}

func (m *model) didAll(msgs didAllMsg) {
	var bad notice
	for _, msg := range msgs {
		if m.did(msg); msg.err != nil && bad.text == "" {
			bad = m.notice
			bad.text = short(msg.in.Step) + ": " + bad.text
		}
	}
	m.notice = bad
}

// drawReading draws the other steps in flight, one line each: how long, and the
// newest thing it printed.
func (r *runScreen) drawReading(env *Env, p *ink.Page, but string) {
	th := p.Theme
	others := slices.DeleteFunc(slices.Clone(r.snap.Running), func(x session.Running) bool { return x.Step == but })
	if len(others) == 0 {
		return
	}
	p.Head(ink.Say("RUNNING BESIDE THIS STEP: %d", len(others)))
	wide := 0
	for _, x := range others {
		wide = max(wide, min(16, ink.Cells(ink.Drawn(short(x.Step)))))
	}
	for _, x := range others {
		newest := ink.Text("")
		if n := len(x.Lines); n > 0 {
			newest = ink.Shown(x.Lines[n-1])
		}
		p.Add(th.Accent.On("● ") + ink.Fit(th.Plain.On(short(x.Step)), wide) + "  " + ink.Fit(progress(&env.th, env.now, x), 11) + "  " + th.Muted.On(newest))
	}
	p.Gap()
}

// drawCutOff says of a read that was not let to its end what that means.
func (r *runScreen) drawCutOff(env *Env, p *ink.Page, st triage.Step) {
	took := st.Ended.Sub(st.Started)
	t := ink.Say("Cut off after %s, its time was up: nothing is known from it.", ink.Ago(took))
	switch st.Outcome {
	case "timeout":
	case "cancelled":
		t = ink.Say("Stopped after %s: nothing is known from it.", ink.Ago(took))
	default:
		return
	}
	p.Item(p.Theme.Warn.On("! "), p.Theme.Plain, t+ink.Say(" %s reads it again.", env.keys.Read.Help().Key))
}
