package tui

import (
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// alikeKey is the key under which a preview shows an object that could be taken
// for its target, and what tells it apart.
const alikeKey = "look-alike"

// alike reports whether a row is about another object than the target.
func alike(kv steps.KV) bool {
	return kv.Key == alikeKey && kv.Value != "" && kv.Value != "none"
}

// gateDiff is what the server itself says the act would change: - goes, + comes.
func (m *model) gateDiff(p *page) {
	th := p.th
	if m.gate.gate.Phase == triage.GateDone {
		return
	}
	lead := label(th.muted.on("changes"))
	for _, d := range m.gate.gate.Preview.Diff {
		in := th.strong
		switch {
		case strings.HasPrefix(d, "-"):
			in = th.bad
		case strings.HasPrefix(d, "+"):
			in = th.good
		}
		p.item(lead, in, shown(d))
		lead = blank(cells(lead))
	}
}

// gateAlike lists what is not the target and looks like it. It returns the row
// on which each of them ends.
func (m *model) gateAlike(p *page) []int {
	th := p.th
	if m.gate.gate.Phase == triage.GateDone {
		return nil
	}
	var at []int
	for _, kv := range m.gate.gate.Preview.Shown {
		if alike(kv) {
			p.item(label(th.warn.on("! NOT THIS")), th.plain, shown(kv.Value))
			at = append(at, len(p.rows)-1)
		}
	}
	return at
}

// more says how much is below the part that is shown, and that look-alikes are
// among it: who types without scrolling must know that there are some.
func (m *model) more(lines int, alikeEnds []int, end int) drawn {
	th := &m.th
	out := th.muted.on(say("↓ %d more lines: pgdn", lines))
	below := 0
	for _, at := range alikeEnds {
		if at >= end {
			below++
		}
	}
	switch {
	case below == 1:
		out += "   " + th.warn.on("! 1 look-alike goes on below")
	case below > 1:
		out += "   " + th.warn.on(say("! %d look-alikes go on below", below))
	}
	return out
}
