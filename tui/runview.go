package tui

import "handrail/tui/ink"

// From this width on the facts stand beside the step.
const sideBySide = 110

// drawRun draws the three panes in h lines.
func (m *model) drawRun(h int) []ink.Drawn {
	th, r := &m.th, &m.run
	if r.closed() && !r.facts {
		return m.drawDebrief(h)
	}
	rule := th.Faint.On("│") + " "
	railW := 21
	if m.w >= sideBySide {
		railW = 26
	}
	right := 0
	if m.w >= sideBySide && m.compared() == nil { // a comparison needs the width, and says what is known

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
	var centre []ink.Drawn
	if r.facts {
		centre = m.drawFacts(mid-1, 0)
	} else {
		centre = m.drawMiddle(mid - 1)
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
	side, _ := ink.Window(m.drawFacts(right-1, h), 0, h)
	return ink.Beside(rule, []int{railW, mid, right}, rail, centre, side)
}
