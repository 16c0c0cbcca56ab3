package run

import (
	"slices"
	"strings"

	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// drawRail draws the loop: each phase with how much of it is settled, and the
// steps of the phase in front.
func (r *Screen) drawRail(env *screen.Env, w, h int) []ink.Drawn {
	th := &env.Theme
	p := ink.Page{W: w, Theme: th}
	cur, _ := r.step()
	focusRow := 0
	all := r.Steps() // phase by phase
	for _, ph := range triage.Phases() {
		n := slices.IndexFunc(all, func(st triage.Step) bool { return st.Phase != ph })
		if n < 0 {
			n = len(all)
		}
		in := all[:n]
		all = all[n:]
		here := ph == cur.Phase
		mk, count := r.phaseMark(env, ph, in, here)
		name := th.Muted.On(ink.Text(ph))
		if here {
			name = th.Strong.On(ink.Text(ph))
		} else if len(in) > 0 {
			name = th.Plain.On(ink.Text(ph))
		}
		p.Add(ink.Spread(mk.Ink.On(mk.Symbol)+" "+name, th.Muted.On(count)+" ", w))
		if !here {
			continue
		}
		for _, st := range in {
			if st.ID == r.Focus {
				focusRow = len(p.Rows)
			}
			p.Add(r.railStep(env, st, slices.Index(r.Been, st.ID), w))
		}
	}
	rows, _ := ink.Window(p.Rows, focusRow-h/2, h)
	return rows
}

// railStep is a step of the rail: how it stands, and at the right how long it
// has been running, or that one was there before, the nth back.
func (r *Screen) railStep(env *screen.Env, st triage.Step, back, w int) ink.Drawn {
	th := &env.Theme
	lead, pen := ink.Drawn("  "), th.Muted
	if st.ID == r.Focus {
		lead, pen = th.Pick.On("▸ "), th.Pick
	}
	mk := statusMark(th, st.Status, false)
	if st.Status == triage.Pending {
		if o, ok := r.Recommended(); ok && o.Step == st.ID {
			mk = statusMark(th, st.Status, true)
		} else if r.Snap.Cards[st.ID].Aside != "" {
			mk = asideMark(th)
		} else if len(r.Barred(st.ID)) > 0 {
			mk = barredMark(th)
		}
	}
	tail := ink.Drawn("")
	switch x, running := r.Running(st.ID); {
	case running:
		tail = " " + th.Accent.On(ink.Ago(max(0, env.Now.Sub(x.Started)))) + " "
	case st.ID == r.Focus:
	case back >= 0 && back < 3:
		tail = " " + th.Muted.On(ink.Say("←%d", back+1)) + " "
	case back >= 0:
		tail = " " + th.Faint.On("←") + " "
	}
	return ink.Spread(lead+mk.Ink.On(mk.Symbol)+" "+pen.On(incident.Short(st.ID)), tail, w)
}

// drawNeeds says what stands in the way of a step, and what would meet it.
func (r *Screen) drawNeeds(p *ink.Page, st triage.Step, needs []triage.Refusal) {
	th := p.Theme
	if len(needs) == 0 {
		return
	}
	var met []string
	if st.Kind == triage.GateStep { // elsewhere a number may be an answer
		met = r.Met(st.ID, needs)
	}
	p.Head("WHAT IT STILL NEEDS")
	for _, f := range needs {
		lead := th.Warn.On("○ ")
		if k := r.MetKey(st.ID, f, met); k != "" {
			lead += th.Key.On(k) + " "
		}
		p.Item(lead, th.Plain, r.InWords(st.ID, f.Why))
		if cure := r.Cure(st.ID, f.Why, f.Cure); cure != "" {
			p.Item("  "+th.Muted.On("→ "), th.Muted, cure)
		}
	}
}

// drawPassed says who skipped or waived a step, and why.
func (r *Screen) drawPassed(p *ink.Page, st triage.Step) {
	th, s := p.Theme, &r.Snap.State
	for _, w := range s.Waivers {
		if w.Subject == st.ID && w.Law == triage.LawNone {
			p.Item(th.Warn.On("– "), th.Plain, ink.Say("Overruled by %s: %s", ink.Or(ink.Shown(w.Person), ink.Shown(w.Actor)), w.Why)+" ("+ink.Clock(w.At)+")")
		} else if w.Subject == st.ID {
			p.Item(th.Warn.On("– "), th.Plain, ink.Say("Waived by %s, law %d: %s", ink.Or(ink.Shown(w.Person), ink.Shown(w.Actor)), w.Law, w.Why)+" ("+ink.Clock(w.At)+")")
		}
	}
	if st.Status != triage.Skipped {
		return
	}
	who := ink.Text("handrail")
	if i := slices.IndexFunc(s.Timeline, func(mo triage.Moment) bool { return mo.Seq == st.EndSeq }); i >= 0 && s.Timeline[i].Actor != "" {
		who = ink.Shown(s.Timeline[i].Actor)
	}
	p.Item(th.Muted.On("– "), th.Plain, ink.Say("Skipped by %s: %s", who, r.InWords(st.ID, strings.TrimSpace(st.How)))+" ("+ink.Clock(st.Ended)+")")
}

// phaseMark sums up a phase in one symbol and a count.
func (r *Screen) phaseMark(env *screen.Env, ph triage.Phase, in []triage.Step, here bool) (ink.Mark, ink.Text) {
	th := &env.Theme
	if ph == triage.Declare {
		return statusMark(th, triage.Settled, false), ""
	}
	in = slices.DeleteFunc(slices.Clone(in), func(st triage.Step) bool { return st.Kind == triage.NoteStep }) // notes ask for nothing
	if len(in) == 0 {
		return ink.Mark{Symbol: "·", Word: "nothing to do", Ink: th.Faint}, ""
	}
	done, odd, passed, running := 0, false, 0, false
	for _, st := range in {
		switch st.Status {
		case triage.Settled:
			done++
		case triage.Skipped, triage.Waived:
			passed++
		case triage.Pending:
			if r.Snap.Cards[st.ID].Aside != "" {
				passed++
			}
		case triage.CannotTell, triage.Stale:
			odd = true
		case triage.Running:
			running = true
		}
	}
	count := ink.Say("%d/%d", done+passed, len(in))
	switch {
	case running:
		return statusMark(th, triage.Running, false), count
	case passed == len(in):
		return statusMark(th, triage.Skipped, false), count
	case odd:
		return statusMark(th, triage.CannotTell, false), count
	case done+passed == len(in):
		return statusMark(th, triage.Settled, false), count
	}
	return statusMark(th, triage.Pending, here), count
}
