package tui

import (
	"strconv"
	"strings"

	"handrail/steps"
)

// leastWhat is the width from which on what a node is stands beside its name.
const leastWhat = 18

// graphParts says how much of a graph is drawn.
type graphParts struct{ what, reasons bool }

// drawGraph draws things in their order, with the lines from each to what waits
// for it, how each stands, and why.
func (m *model) drawGraph(p *page, g *steps.Graph, parts graphParts) {
	th := p.th
	p.add(spread(th.muted.on("IN THIS ORDER"), m.graphSigns(g), p.w))
	names, digits := 0, len(strconv.Itoa(len(g.Nodes)))
	for _, n := range g.Nodes {
		names = max(names, min(24, cells(drawn(shown(n.Name)))))
	}
	for i, r := range g.Rails() {
		n := g.Nodes[i]
		mk, ink := m.nodeMark(g, i)
		rail, under := th.muted.on(text(r.At)), th.muted.on(text(r.Below))
		lead := rail + " " + mk.ink.on(mk.symbol) + " " + th.muted.on(say("%*d", digits, i+1)) + " "
		was := drawn("")
		if n.Was > 0 {
			was = th.warn.on(say("was %d", n.Was)) + "  "
		}
		name := ink.on(shown(n.Name))
		if !parts.what || n.What == "" {
			p.add(lead + name + "  " + was)
			continue
		}
		indent, room := cells(lead), p.w-cells(lead)-names-2-cells(was)
		if room < leastWhat {
			p.add(lead + name + "  " + was)
			for _, l := range wrap(shown(n.What), p.w-indent) {
				p.add(fit(under, indent) + th.muted.on(l))
			}
			continue
		}
		for k, l := range wrap(shown(n.What), room) {
			if k == 0 {
				p.add(lead + fit(name, names) + "  " + was + th.plain.on(l))
			} else {
				p.add(fit(under, indent+names+2+cells(was)) + th.plain.on(l))
			}
		}
	}
	if g.Changed() {
		p.item(th.warn.on("! "), th.plain, "A person changed the order. “was” is the place that was proposed.")
	}
	if parts.reasons {
		drawReasons(p, g)
	}
}

// drawReasons says why each thing stands before others.
func drawReasons(p *page, g *steps.Graph) {
	if len(g.Reasons) > 0 {
		p.head("WHY")
	}
	for _, r := range g.Reasons {
		of, why, told := strings.Cut(r, ": ")
		p.item(p.th.muted.on("· "), p.th.plain, shown(of))
		if told {
			p.item("  ", p.th.muted, shown(why))
		}
	}
}

// nodeMark is how a node stands. Only the first that is not done is next.
func (m *model) nodeMark(g *steps.Graph, i int) (mark, ink) {
	th, next := &m.th, g.Next() == i
	switch n := g.Nodes[i]; {
	case n.State == steps.NodeDone:
		return mark{"✓", "done", th.good}, th.muted
	case n.State != steps.NodeOpen && next:
		return mark{"?", "unknown", th.warn}, th.strong
	case n.State != steps.NodeOpen:
		return mark{"?", "unknown", th.warn}, th.plain
	case next:
		return mark{"▸", "next", th.accent}, th.strong
	}
	return mark{"○", "open", th.muted}, th.plain
}

// graphSigns says what the signs of a graph mean, those that it has.
func (m *model) graphSigns(g *steps.Graph) drawn {
	var out drawn
	seen := map[text]bool{}
	for i := range g.Nodes {
		mk, _ := m.nodeMark(g, i)
		if !seen[mk.symbol] {
			if out != "" {
				out += "  "
			}
			out += mk.ink.on(mk.symbol) + " " + m.th.muted.on(mk.word)
		}
		seen[mk.symbol] = true
	}
	return out
}
