package run

import (
	"slices"

	"handrail/tui/ink"
	"handrail/tui/screen"
)

// From this width on the facts stand beside the step.
const sideBySide = 110

// Draw draws the three panes in h lines.
func (r *Screen) Draw(env *screen.Env, _, h int) []ink.Drawn {
	th := &env.Theme
	if r.Closed() && !r.Facts {
		return r.drawDebrief(env, h)
	}
	rule := th.Faint.On("│") + " "
	railW := 21
	if env.W >= sideBySide {
		railW = 26
	}
	right := 0
	if env.W >= sideBySide && r.compared(env) == nil { // a comparison needs the width, and says what is known

		right = min(52, env.W*36/100)
	}
	mid := env.W - railW - 2
	if right > 0 {
		mid -= right + 2
	}
	rail := r.drawRail(env, railW-1, h)
	for i := range rail {
		rail[i] = " " + rail[i]
	}
	var centre, choices []ink.Drawn
	r.pinned = [2]int{}
	if r.Facts {
		centre = r.drawFacts(env, mid-1, 0)
	} else {
		centre = r.drawMiddle(env, mid-1)
	}
	// What a question can be answered with is seen however long it is.
	if from, to := r.pinned[0], r.pinned[1]; len(centre) > h && to-from > 0 && to-from < h/2 {
		choices = slices.Clone(centre[from:to])
		centre = slices.Delete(centre, from, to)
		h -= len(choices)
	}
	all := len(centre)
	if r.follow && r.Row >= 0 {
		r.Off = min(max(r.Off, r.mark-h+4), max(0, r.mark-3))
	}
	centre, r.Off = ink.Window(centre, r.Off, h)
	if more := all - r.Off - h; more > 0 {
		centre[h-1] = th.Muted.On(ink.Say("↓ %d more lines: pgdn", more+1))
	}
	for len(choices) > 0 && len(centre) < h {
		centre = append(centre, "")
	}
	centre = append(centre, choices...)
	h += len(choices)
	if right == 0 {
		return ink.Beside(rule, []int{railW, mid}, rail, centre)
	}
	side, _ := ink.Window(r.drawFacts(env, right-1, h), 0, h)
	return ink.Beside(rule, []int{railW, mid, right}, rail, centre, side)
}
