package run

import (
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// leastWhat is the width from which on what a node is stands beside its name.
const leastWhat = 18

// graphParts says how much of a graph is drawn.
type graphParts struct{ what, reasons bool }

// drawGraph draws things in their order, with the lines from each to what waits
// for it, how each stands, and why.
func drawGraph(env *screen.Env, p *ink.Page, g *steps.Graph, parts graphParts) {
	if g.Of.Way {
		drawWay(env, p, g)
		return
	}
	th := p.Theme
	p.Add(ink.Spread(th.Muted.On("IN THIS ORDER"), graphSigns(env, g), p.W))
	names, digits := 0, len(strconv.Itoa(len(g.Nodes)))
	for _, n := range g.Nodes {
		names = max(names, min(24, ink.Cells(ink.Drawn(ink.Shown(n.Name)))))
	}
	for i, r := range g.Rails() {
		n := g.Nodes[i]
		mk, pen := nodeMark(env, g, i)
		rail, under := th.Muted.On(ink.Text(r.At)), th.Muted.On(ink.Text(r.Below))
		lead := rail + " " + mk.Ink.On(mk.Symbol) + " " + th.Muted.On(ink.Say("%*d", digits, i+1)) + " "
		was := ink.Drawn("")
		if n.Was > 0 {
			was = th.Warn.On(ink.Say("was %d", n.Was)) + "  "
		}
		name := pen.On(ink.Shown(n.Name))
		if !parts.what || n.What == "" {
			p.Add(lead + name + "  " + was)
			continue
		}
		indent, room := ink.Cells(lead), p.W-ink.Cells(lead)-names-2-ink.Cells(was)
		if room < leastWhat {
			p.Add(lead + name + "  " + was)
			for _, l := range ink.Wrap(ink.Shown(n.What), p.W-indent) {
				p.Add(ink.Fit(under, indent) + th.Muted.On(l))
			}
			continue
		}
		for k, l := range ink.Wrap(ink.Shown(n.What), room) {
			if k == 0 {
				p.Add(lead + ink.Fit(name, names) + "  " + was + th.Plain.On(l))
			} else {
				p.Add(ink.Fit(under, indent+names+2+ink.Cells(was)) + th.Plain.On(l))
			}
		}
	}
	if g.Changed() {
		p.Item(th.Warn.On("! "), th.Plain, "A person changed the order. “was” is the proposed place.")
	}
	if parts.reasons {
		drawReasons(p, g)
	}
}

// drawReasons says why each thing stands before others.
func drawReasons(p *ink.Page, g *steps.Graph) {
	if len(g.Reasons) > 0 {
		p.Head("WHY")
	}
	for _, r := range g.Reasons {
		of, why, told := strings.Cut(r, ": ")
		p.Item(p.Theme.Muted.On("· "), p.Theme.Plain, ink.Shown(of))
		if told {
			p.Item("  ", p.Theme.Muted, ink.Shown(why))
		}
	}
}

// nodeMark is how a node stands. Only the first that is not done is next.
func nodeMark(env *screen.Env, g *steps.Graph, i int) (ink.Mark, ink.Ink) {
	th, next := &env.Theme, g.Next() == i
	switch n := g.Nodes[i]; {
	case n.State == steps.NodeDone:
		return ink.Mark{Symbol: "✓", Word: "done", Ink: th.Good}, th.Muted
	case n.State != steps.NodeOpen && next:
		return ink.Mark{Symbol: "?", Word: "unknown", Ink: th.Warn}, th.Strong
	case n.State != steps.NodeOpen:
		return ink.Mark{Symbol: "?", Word: "unknown", Ink: th.Warn}, th.Plain
	case next:
		return ink.Mark{Symbol: "▸", Word: "next", Ink: th.Accent}, th.Strong
	}
	return ink.Mark{Symbol: "○", Word: "open", Ink: th.Muted}, th.Plain
}

// graphSigns says what the signs of a graph mean, those that it has.
func graphSigns(env *screen.Env, g *steps.Graph) ink.Drawn {
	var out ink.Drawn
	seen := map[ink.Text]bool{}
	for i := range g.Nodes {
		mk, _ := nodeMark(env, g, i)
		if !seen[mk.Symbol] {
			if out != "" {
				out += "  "
			}
			out += mk.Ink.On(mk.Symbol) + " " + env.Theme.Muted.On(mk.Word)
		}
		seen[mk.Symbol] = true
	}
	return out
}
