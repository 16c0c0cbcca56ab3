package run

import (
	"handrail/steps"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// mostDeep bounds how far to the right a rung stands.
const mostDeep = 6

// drawWay draws the way from Git to what is live: a rung each, with how it stands and what is said of
// it, in the colour of trouble where it fails.
func drawWay(env *screen.Env, p *ink.Page, g *steps.Graph) {
	th := p.Theme
	head := th.Muted.On("FROM GIT DOWN")
	signs := waySigns(env, g, true)
	if ink.Cells(head)+2+ink.Cells(signs) > p.W {
		signs = waySigns(env, g, false) // what is fine needs no word
	}
	if ink.Cells(head)+2+ink.Cells(signs) > p.W {
		signs = ""
	}
	p.Add(ink.Spread(head, signs, p.W))
	depths := g.Depths()
	for i := range depths {
		depths[i] = min(depths[i], mostDeep)
	}
	for i, n := range g.Nodes {
		mk, pen := rungMark(env, n.State)
		at, under := wayLines(depths, i)
		lead, below := th.Muted.On(at), th.Muted.On(under)
		for k, l := range ink.Wrap(ink.Shown(n.Name), p.W-2*depths[i]-2) {
			if k == 0 {
				p.Add(lead + mk.Ink.On(mk.Symbol) + " " + pen.On(l))
			} else {
				p.Add(below + pen.On(l))
			}
		}
		if n.What == "" {
			continue
		}
		words := mk.Ink
		if n.State == steps.NodeFine {
			words = th.Muted
		}
		for _, l := range ink.Wrap(ink.Shown(n.What), p.W-2*depths[i]-4) {
			p.Add(below + "  " + words.On(l))
		}
	}
}

// wayLines are what stands left of a rung: in its first row, and below that.
func wayLines(depths []int, row int) (at, under ink.Text) {
	more := func(depth int) bool { // one stands there further down, before one that is further left
		for _, d := range depths[row+1:] {
			if d <= depth {
				return d == depth
			}
		}
		return false
	}
	deep := depths[row]
	for d := 1; d <= deep; d++ {
		line := ink.Text("  ")
		if more(d) {
			line = "│ "
		}
		if under += line; d < deep {
			at += line
		} else if line == "  " {
			at += "└ "
		} else {
			at += "├ "
		}
	}
	if row+1 < len(depths) && depths[row+1] > deep || deep == 0 && more(0) {
		return at, under + "│ "
	}
	return at, under + "  "
}

// rungMark is how a rung stands, and the ink of its name.
func rungMark(env *screen.Env, state string) (ink.Mark, ink.Ink) {
	th := &env.Theme
	switch state {
	case steps.NodeFine:
		return ink.Mark{Symbol: "✓", Word: "fine", Ink: th.Good}, th.Plain
	case steps.NodeFails:
		return ink.Mark{Symbol: "✗", Word: "fails", Ink: th.Bad}, th.Strong
	case steps.NodeHeld:
		return ink.Mark{Symbol: "!", Word: "held", Ink: th.Warn}, th.Plain
	case steps.NodeDiffers:
		return ink.Mark{Symbol: "≠", Word: "differs", Ink: th.Warn}, th.Plain
	}
	return ink.Mark{Symbol: "?", Word: "unknown", Ink: th.Warn}, th.Plain
}

// waySigns says what the signs of a way mean, those that it has.
func waySigns(env *screen.Env, g *steps.Graph, fine bool) (all ink.Drawn) {
	seen := map[string]bool{steps.NodeFine: !fine}
	for _, n := range g.Nodes {
		if seen[n.State] {
			continue
		}
		if seen[n.State] = true; all != "" {
			all += "  "
		}
		mk, _ := rungMark(env, n.State)
		all += mk.Ink.On(mk.Symbol) + " " + env.Theme.Muted.On(mk.Word)
	}
	return all
}
