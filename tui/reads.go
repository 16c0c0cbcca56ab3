package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/triage"
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

// can says that an intent is offered and nothing bars it.
func (r *runScreen) can(k triage.IntentKind, step string) bool {
	_, ok := r.option(k, step)
	return ok && len(r.barred(step)) == 0
}

// reading are the probes in flight, without an act.
func (r *runScreen) reading() []session.Running {
	return slices.DeleteFunc(slices.Clone(r.snap.Running), func(x session.Running) bool { return x.Act })
}

// readAll starts every read that is ready.
func (m *model) readAll() tea.Cmd {
	var ins []triage.Intent
	for _, st := range m.run.ready() {
		ins = append(ins, triage.Intent{Kind: triage.DoProbe, Step: st.ID})
	}
	if len(ins) == 0 {
		m.warn("", "No read of this phase is left that is ready and was never tried; r reads this step again.")
		return nil
	}
	return m.sendAll(ins)
}

// cancelAll stops every probe in flight; an act is never stopped by that.
func (m *model) cancelAll() tea.Cmd {
	var ins []triage.Intent
	for _, x := range m.run.reading() {
		ins = append(ins, triage.Intent{Kind: triage.DoCancel, Step: x.Step})
	}
	if len(ins) == 0 {
		m.warn("", "No probe is running.")
		return nil
	}
	return m.sendAll(ins)
}

// didAllMsg are the answers to intents that were asked for together.
type didAllMsg []didMsg

// sendAll asks for several intents, one after the other.
func (m *model) sendAll(ins []triage.Intent) tea.Cmd {
	inc := m.inc
	for i := range ins {
		ins[i].Seen = m.run.snap.State.Seq
	}
	m.run.busy += len(ins)
	return m.crew.start(func(ctx context.Context) tea.Msg {
		var out didAllMsg
		for _, in := range ins {
			out = append(out, didMsg{in, inc.Do(context.WithoutCancel(ctx), in)})
		}
		return out
	})
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

// progress is how long a step has been running, of how long it may.
func (m *model) progress(x session.Running) drawn {
	th := &m.th
	t := ago(max(0, m.now.Sub(x.Started)))
	if x.Until.IsZero() {
		return th.muted.on(t)
	}
	ink, most := th.muted, x.Until.Sub(x.Started)
	if m.now.Sub(x.Started) > most*4/5 {
		ink = th.warn
	}
	return ink.on(t + " of " + span(most))
}

// span is a deadline as people say it: 60s, 15m.
func span(d time.Duration) text {
	switch {
	case d <= 2*time.Minute:
		return say("%ds", int(d.Seconds()))
	case d%time.Minute == 0:
		return say("%dm", int(d.Minutes()))
	}
	return ago(d)
}

// drawLive draws a step in flight: the newest lines it printed.
func (m *model) drawLive(p *page, run session.Running) {
	th := p.th
	p.gap()
	word := text("reading")
	if run.Act {
		word = "acting"
	}
	p.add(th.accent.on("● "+word) + "  " + m.progress(run))
	for _, l := range run.Lines[max(0, len(run.Lines)-12):] {
		p.add(th.faint.on("│ ") + th.plain.on(shown(l)))
	}
}

// drawReading draws the other steps in flight, one line each: how long, and the
// newest thing it printed.
func (m *model) drawReading(p *page, but string) {
	th := p.th
	others := slices.DeleteFunc(slices.Clone(m.run.snap.Running), func(x session.Running) bool { return x.Step == but })
	if len(others) == 0 {
		return
	}
	p.head(say("RUNNING BESIDE THIS STEP: %d", len(others)))
	wide := 0
	for _, x := range others {
		wide = max(wide, min(16, cells(drawn(short(x.Step)))))
	}
	for _, x := range others {
		newest := text("")
		if n := len(x.Lines); n > 0 {
			newest = shown(x.Lines[n-1])
		}
		p.add(th.accent.on("● ") + fit(th.plain.on(short(x.Step)), wide) + "  " + fit(m.progress(x), 11) + "  " + th.muted.on(newest))
	}
	p.gap()
}

// drawCutOff says of a read that was not let to its end what that means.
func (m *model) drawCutOff(p *page, st triage.Step) {
	took := st.Ended.Sub(st.Started)
	t := say("Cut off after %s, its time was up: nothing is known from it.", ago(took))
	switch st.Outcome {
	case "timeout":
	case "cancelled":
		t = say("Stopped after %s: nothing is known from it.", ago(took))
	default:
		return
	}
	p.item(p.th.warn.on("! "), p.th.plain, t+say(" %s reads it again.", m.keys.Read.Help().Key))
}
