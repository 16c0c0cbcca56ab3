package tui

import (
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
)

// alikeKey is the key under which a preview shows an object that could be taken
// for its target, and what tells it apart.
const alikeKey = "look-alike"

// alike reports whether a row is about another object than the target.
func alike(kv steps.KV) bool {
	return kv.Key == alikeKey && kv.Value != "" && kv.Value != "none"
}

// gateDiff is what the server itself says the act would change: - goes, + comes.
func (m *model) gateDiff(p *ink.Page) {
	th := p.Theme
	if m.gate.gate.Phase == triage.GateDone {
		return
	}
	lead := label(th.Muted.On("changes"))
	for _, d := range m.gate.gate.Preview.Diff {
		in := th.Strong
		switch {
		case strings.HasPrefix(d, "-"):
			in = th.Bad
		case strings.HasPrefix(d, "+"):
			in = th.Good
		}
		p.Item(lead, in, ink.Shown(d))
		lead = ink.Blank(ink.Cells(lead))
	}
}

// gateAlike lists what is not the target and looks like it. It returns the row
// on which each of them ends.
func (m *model) gateAlike(p *ink.Page) []int {
	th := p.Theme
	if m.gate.gate.Phase == triage.GateDone {
		return nil
	}
	var at []int
	for _, kv := range m.gate.gate.Preview.Shown {
		if alike(kv) {
			p.Item(label(th.Warn.On("! NOT THIS")), th.Plain, ink.Shown(kv.Value))
			at = append(at, len(p.Rows)-1)
		}
	}
	return at
}

// more says how much is below the part that is shown, and that look-alikes are
// among it: who types without scrolling must know that there are some.
func (m *model) more(lines int, alikeEnds []int, end int) ink.Drawn {
	th := &m.th
	out := th.Muted.On(ink.Say("↓ %d more lines: pgdn", lines))
	below := 0
	for _, at := range alikeEnds {
		if at >= end {
			below++
		}
	}
	switch {
	case below == 1:
		out += "   " + th.Warn.On("! 1 look-alike goes on below")
	case below > 1:
		out += "   " + th.Warn.On(ink.Say("! %d look-alikes go on below", below))
	}
	return out
}
