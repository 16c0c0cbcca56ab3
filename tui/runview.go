package tui

import (
	"handrail/triage"
	"slices"
)

// From this width on the facts stand beside the step.
const sideBySide = 110

// drawRun draws the three panes in h lines.
func (m *model) drawRun(h int) []drawn {
	th, r := &m.th, &m.run
	if r.closed() && !r.facts {
		return m.drawDebrief(h)
	}
	rule := th.faint.on("│") + " "
	railW := 21
	if m.w >= sideBySide {
		railW = 26
	}
	right := 0
	if m.w >= sideBySide {
		right = min(52, m.w*36/100)
	}
	mid := m.w - railW - 2
	if right > 0 {
		mid -= right + 2
	}
	rail := m.drawRail(railW-1, h)
	for i := range rail {
		rail[i] = " " + rail[i]
	}
	var centre []drawn
	if r.facts {
		centre = m.drawFacts(mid-1, 0)
	} else {
		centre = m.drawMiddle(mid - 1)
	}
	all := len(centre)
	centre, r.off = window(centre, r.off, h)
	if more := all - r.off - h; more > 0 {
		centre[h-1] = th.muted.on(say("↓ %d more lines: pgdn", more+1))
	}
	if right == 0 {
		return beside(rule, []int{railW, mid}, rail, centre)
	}
	side, _ := window(m.drawFacts(right-1, h), 0, h)
	return beside(rule, []int{railW, mid, right}, rail, centre, side)
}

// drawRail draws the loop: each phase with how much of it is settled, and the
// steps of the phase in front.
func (m *model) drawRail(w, h int) []drawn {
	th, r := &m.th, &m.run
	p := page{w: w, th: th}
	cur, _ := r.step()
	focusRow := 0
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
			p.add(m.railStep(st, w))
		}
	}
	rows, _ := window(p.rows, focusRow-h/2, h)
	return rows
}

func (m *model) railStep(st triage.Step, w int) drawn {
	th, r := &m.th, &m.run
	mk := th.status(st.Status, false)
	lead, ink := drawn("  "), th.muted
	if st.ID == r.focus {
		lead, ink = th.pick.on("▸ "), th.pick
	}
	if o, ok := r.recommended(); ok && o.Step == st.ID && st.Status == triage.Pending {
		mk = th.status(st.Status, true)
	}
	return cut(lead+mk.ink.on(mk.symbol)+" "+ink.on(short(st.ID)), w)
}

// phaseMark sums up a phase in one symbol and a count.
func (m *model) phaseMark(ph triage.Phase, in []triage.Step, here bool) (mark, text) {
	th := &m.th
	if ph == triage.Declare {
		return th.status(triage.Settled, false), ""
	}
	if len(in) == 0 {
		return mark{"·", "nothing to do", th.faint}, ""
	}
	in = slices.DeleteFunc(slices.Clone(in), func(st triage.Step) bool { return st.Kind == triage.NoteStep }) // notes ask for nothing
	if len(in) == 0 {
		return mark{"·", "nothing to do", th.faint}, ""
	}
	done, odd, passed := 0, false, 0
	for _, st := range in {
		switch st.Status {
		case triage.Settled:
			done++
		case triage.Skipped, triage.Waived:
			passed++
		case triage.CannotTell, triage.Stale:
			odd = true
		}
	}
	count := say("%d/%d", done+passed, len(in))
	switch {
	case passed == len(in):
		return th.status(triage.Skipped, false), count
	case odd:
		return th.status(triage.CannotTell, false), count
	case done+passed == len(in):
		return th.status(triage.Settled, false), count
	}
	return th.status(triage.Pending, here), count
}
