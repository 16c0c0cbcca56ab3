package run

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// Ready are the reads that can be started together: those of the phase in front
// that were never tried, or that are stale since what they read moved, and that nothing bars. What runs a program, what is
// sampled and what opens is started by itself.
func (r *Screen) Ready() []triage.Step {
	cur, _ := r.step()
	return r.readyIn(cur.Phase)
}

// readyIn are the ready reads of a phase. One behind a gate that is still to act waits: what
// it would read now is not what the gate leaves.
func (r *Screen) readyIn(phase triage.Phase) []triage.Step {
	if r.Closed() || r.Snap.Dead != "" {
		return nil
	}
	behind := false
	return slices.DeleteFunc(r.Steps(), func(st triage.Step) bool {
		behind = behind || st.Phase == phase && st.Kind == triage.GateStep && st.Status == triage.Pending && r.Snap.Cards[st.ID].Aside == ""
		return behind || st.Phase != phase || st.Kind != triage.ProbeStep || st.Heavy || !unread(st) ||
			r.Snap.Cards[st.ID].Aside != "" || !r.Can(triage.DoProbe, st.ID)
	})
}

// unread reports whether a step was never tried, or has to be read again since what it reads
// moved: a parameter that has another value is often one of many reads.
func unread(st triage.Step) bool {
	return st.Attempts == 0 && st.Status == triage.Pending || st.Status == triage.Stale
}

// readAll starts every read that is ready.
func (r *Screen) readAll(env *screen.Env) tea.Cmd {
	var ins []triage.Intent
	for _, st := range r.Ready() {
		ins = append(ins, triage.Intent{Kind: triage.DoProbe, Step: st.ID})
	}
	if len(ins) == 0 {
		env.Warn("", "Every ready read of this phase was tried, and none is stale; r reads this step again.")
		return nil
	}
	return env.SendAll(ins)
}

// cancelAll stops every probe in flight; an act is never stopped by that.
func (r *Screen) cancelAll(env *screen.Env) tea.Cmd {
	var ins []triage.Intent
	for _, x := range r.Reading() {
		ins = append(ins, triage.Intent{Kind: triage.DoCancel, Step: x.Step})
	}
	if len(ins) == 0 {
		env.Warn("", "No probe is running.")
		return nil
	}
	return env.SendAll(ins)
}

// drawReading draws the other steps in flight, one line each: how long, and the
// newest thing it printed.
func (r *Screen) drawReading(env *screen.Env, p *ink.Page, but string) {
	th := p.Theme
	others := slices.DeleteFunc(slices.Clone(r.Snap.Running), func(x view.Running) bool { return x.Step == but })
	if len(others) == 0 {
		return
	}
	p.Head(ink.Say("ALSO RUNNING: %d", len(others)))
	wide := 0
	for _, x := range others {
		wide = max(wide, min(16, ink.Cells(ink.Drawn(incident.Short(x.Step)))))
	}
	for _, x := range others {
		newest := ink.Text("")
		if n := len(x.Lines); n > 0 {
			newest = ink.Shown(x.Lines[n-1])
		}
		p.Add(th.Accent.On("● ") + ink.Fit(th.Plain.On(incident.Short(x.Step)), wide) + "  " + ink.Fit(incident.Progress(&env.Theme, env.Now, x), 11) + "  " + th.Muted.On(newest))
	}
	p.Gap()
}

// drawCutOff says of a read that was not let to its end what that means.
func (r *Screen) drawCutOff(env *screen.Env, p *ink.Page, st triage.Step) {
	took := st.Ended.Sub(st.Started)
	t := ink.Say("Timed out after %s: nothing is known from it.", ink.Ago(took))
	switch st.Outcome {
	case "timeout":
	case "cancelled":
		t = ink.Say("Stopped after %s: nothing is known from it.", ink.Ago(took))
	default:
		return
	}
	p.Item(p.Theme.Warn.On("! "), p.Theme.Plain, t+ink.Say(" %s reads it again.", env.Keys.Read.Help().Key))
}
