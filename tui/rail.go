package tui

import (
	"slices"
	"strings"

	"handrail/triage"
)

// drawRail draws the loop: each phase with how much of it is settled, and the
// steps of the phase in front.
func (m *model) drawRail(w, h int) []drawn {
	th, r := &m.th, &m.run
	p := page{w: w, th: th}
	cur, _ := r.step()
	focusRow := 0
	been := m.been()
	for _, ph := range triage.Phases() {
		var in []triage.Step
		for _, st := range r.steps() {
			if st.Phase == ph {
				in = append(in, st)
			}
		}
		here := ph == cur.Phase
		mk, count := m.phaseMark(ph, in, here)
		name := th.muted.on(text(ph))
		if here {
			name = th.strong.on(text(ph))
		} else if len(in) > 0 {
			name = th.plain.on(text(ph))
		}
		p.add(spread(mk.ink.on(mk.symbol)+" "+name, th.muted.on(count)+" ", w))
		if !here {
			continue
		}
		for _, st := range in {
			if st.ID == r.focus {
				focusRow = len(p.rows)
			}
			p.add(m.railStep(st, slices.Index(been, st.ID), w))
		}
	}
	rows, _ := window(p.rows, focusRow-h/2, h)
	return rows
}

// railStep is a step of the rail: how it stands, and at the right how long it
// has been running, or that one was there before, the nth back.
func (m *model) railStep(st triage.Step, back, w int) drawn {
	th, r := &m.th, &m.run
	lead, ink := drawn("  "), th.muted
	if st.ID == r.focus {
		lead, ink = th.pick.on("▸ "), th.pick
	}
	mk := th.status(st.Status, false)
	if st.Status == triage.Pending {
		if o, ok := r.recommended(); ok && o.Step == st.ID {
			mk = th.status(st.Status, true)
		} else if len(r.barred(st.ID)) > 0 || r.snap.Cards[st.ID].Aside != "" {
			mk = th.barred()
		}
	}
	tail := drawn("")
	switch x, running := r.running(st.ID); {
	case running:
		tail = " " + th.accent.on(ago(max(0, m.now.Sub(x.Started)))) + " "
	case st.ID == r.focus:
	case back >= 0 && back < 3:
		tail = " " + th.muted.on(say("←%d", back+1)) + " "
	case back >= 0:
		tail = " " + th.faint.on("←") + " "
	}
	return spread(lead+mk.ink.on(mk.symbol)+" "+ink.on(short(st.ID)), tail, w)
}

// barred is the mark of what cannot be done now.
func (t theme) barred() mark { return mark{"×", "not now", t.muted} }

// barred says why what a step asks for cannot be done now: the laws of the loop,
// and what the session has against starting it.
func (r *runScreen) barred(step string) []triage.Refusal {
	st, ok := r.snap.State.Step(step)
	if !ok || st.Status == triage.Running || r.closed() {
		return nil
	}
	kind, ok := does[st.Kind]
	if !ok {
		return nil
	}
	o, _ := r.option(kind, step)
	return append(slices.Clone(o.Refusals), r.snap.Cards[step].Shut...)
}

// does is the intent that a step of each kind asks for.
var does = map[triage.StepKind]triage.IntentKind{
	triage.AskStep: triage.DoAnswer, triage.ProbeStep: triage.DoProbe, triage.CompareStep: triage.DoProbe,
	triage.WatchStep: triage.DoProbe, triage.ManualStep: triage.DoManual, triage.ConcludeStep: triage.DoConclude,
	triage.GateStep: triage.DoPreview,
}

// drawNeeds says what stands in the way of a step, and what would meet it.
func (m *model) drawNeeds(p *page, needs []triage.Refusal) {
	th := p.th
	if len(needs) == 0 {
		return
	}
	p.head("WHAT IT STILL NEEDS")
	for _, f := range needs {
		p.item(th.warn.on("○ "), th.plain, shown(f.Why))
		if f.Cure != "" {
			p.item("  "+th.muted.on("→ "), th.muted, shown(f.Cure))
		}
	}
}

// drawPassed says who passed over a step, or set it aside, and why.
func (m *model) drawPassed(p *page, st triage.Step) {
	th, s := p.th, &m.run.snap.State
	for _, w := range s.Waivers {
		if w.Subject == st.ID && w.Law == triage.LawNone {
			p.item(th.warn.on("– "), th.plain, say("Overruled by %s: %s", or(shown(w.Person), shown(w.Actor)), w.Why)+" ("+clock(w.At)+")")
		} else if w.Subject == st.ID {
			p.item(th.warn.on("– "), th.plain, say("Waived by %s, law %d: %s", or(shown(w.Person), shown(w.Actor)), w.Law, w.Why)+" ("+clock(w.At)+")")
		}
	}
	if st.Status != triage.Skipped {
		return
	}
	who := text("handrail")
	if i := slices.IndexFunc(s.Timeline, func(mo triage.Moment) bool { return mo.Seq == st.EndSeq }); i >= 0 && s.Timeline[i].Actor != "" {
		who = shown(s.Timeline[i].Actor)
	}
	p.item(th.muted.on("– "), th.plain, say("Skipped by %s: %s", who, strings.TrimSpace(st.How))+" ("+clock(st.Ended)+")")
}

// phaseMark sums up a phase in one symbol and a count.
func (m *model) phaseMark(ph triage.Phase, in []triage.Step, here bool) (mark, text) {
	th := &m.th
	if ph == triage.Declare {
		return th.status(triage.Settled, false), ""
	}
	in = slices.DeleteFunc(slices.Clone(in), func(st triage.Step) bool { return st.Kind == triage.NoteStep }) // notes ask for nothing
	if len(in) == 0 {
		return mark{"·", "nothing to do", th.faint}, ""
	}
	done, odd, passed, running := 0, false, 0, false
	for _, st := range in {
		switch st.Status {
		case triage.Settled:
			done++
		case triage.Skipped, triage.Waived:
			passed++
		case triage.CannotTell, triage.Stale:
			odd = true
		case triage.Running:
			running = true
		}
	}
	count := say("%d/%d", done+passed, len(in))
	switch {
	case running:
		return th.status(triage.Running, false), count
	case passed == len(in):
		return th.status(triage.Skipped, false), count
	case odd:
		return th.status(triage.CannotTell, false), count
	case done+passed == len(in):
		return th.status(triage.Settled, false), count
	}
	return th.status(triage.Pending, here), count
}
