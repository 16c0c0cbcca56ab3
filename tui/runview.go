package tui

import "handrail/tui/ink"

// From this width on the facts stand beside the step.
const sideBySide = 110

// draw draws the three panes in h lines.
func (r *runScreen) draw(env *Env, _, h int) []ink.Drawn {
	th := &env.th
	if r.closed() && !r.facts {
		return r.drawDebrief(env, h)
	}
	rule := th.Faint.On("│") + " "
	railW := 21
	if env.w >= sideBySide {
		railW = 26
	}
	right := 0
	if env.w >= sideBySide && r.compared(env) == nil { // a comparison needs the width, and says what is known

		right = min(52, env.w*36/100)
	}
	mid := env.w - railW - 2
	if right > 0 {
		mid -= right + 2
	}
	rail := r.drawRail(env, railW-1, h)
	for i := range rail {
		rail[i] = " " + rail[i]
	}
	var centre []ink.Drawn
	if r.facts {
		centre = r.drawFacts(env, mid-1, 0)
	} else {
		centre = r.drawMiddle(env, mid-1)
	}
	all := len(centre)
	if r.follow && r.row >= 0 {
		r.off = min(max(r.off, r.mark-h+4), max(0, r.mark-3))
	}
	centre, r.off = ink.Window(centre, r.off, h)
	if more := all - r.off - h; more > 0 {
		centre[h-1] = th.Muted.On(ink.Say("↓ %d more lines: pgdn", more+1))
	}
	if right == 0 {
		return ink.Beside(rule, []int{railW, mid}, rail, centre)
	}
	side, _ := ink.Window(r.drawFacts(env, right-1, h), 0, h)
	return ink.Beside(rule, []int{railW, mid, right}, rail, centre, side)
}
