package gate

import (
	"strings"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// alikeKey is the key under which a preview shows an object that could be taken
// for its target, and what tells it apart.
const alikeKey = "look-alike"

// alike reports whether a row is about another object than the target.
func alike(kv steps.KV) bool {
	return kv.Key == alikeKey && kv.Value != "" && kv.Value != "none"
}

// diff is what the server itself says the act would change: - goes, + comes.
func (g *Modal) diff(p *ink.Page) {
	th := p.Theme
	if g.Gate.Phase == triage.GateDone {
		return
	}
	lead := label(th.Muted.On("changes"))
	for _, d := range g.Gate.Preview.Diff {
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

// alike lists what is not the target and looks like it. It returns the row
// on which each of them ends.
func (g *Modal) alike(p *ink.Page) []int {
	th := p.Theme
	if g.Gate.Phase == triage.GateDone {
		return nil
	}
	var at []int
	for _, kv := range g.Gate.Preview.Shown {
		if alike(kv) {
			p.Item(label(th.Warn.On("! NOT THIS")), th.Plain, ink.Shown(kv.Value))
			at = append(at, len(p.Rows)-1)
		}
	}
	return at
}

// more says how much is below the part that is shown, and that look-alikes are
// among it: who types without scrolling must know that there are some.
func (g *Modal) more(env *screen.Env, lines int, alikeEnds []int, end int) ink.Drawn {
	th := &env.Theme
	out := th.Muted.On(ink.Say("↓ %d more lines: pgdn", lines))
	below := 0
	for _, at := range alikeEnds {
		if at >= end {
			below++
		}
	}
	switch {
	case below == 1:
		out += "   " + th.Warn.On("! 1 look-alike continues below")
	case below > 1:
		out += "   " + th.Warn.On(ink.Say("! %d look-alikes continue below", below))
	}
	return out
}
