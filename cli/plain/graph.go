package plain

import (
	"fmt"
	"strings"

	"handrail/steps"
)

// Graph says things in their order, one line each: how it stands, what it waits
// for, and why. Lines between them would say nothing to a screen reader.
func (d *Dialogue) Graph(g *steps.Graph) {
	if g == nil {
		return
	}
	if g.Of.Way {
		d.way(g)
		return
	}
	d.say("      In this order:")
	if g.Changed() {
		d.say("      A person changed it; \"was\" is the place that was proposed.")
	}
	for i, n := range g.Nodes {
		said := []string{n.State}
		if g.Next() == i {
			said[0] += ", next"
		}
		if waits := g.Waits(n); len(waits) > 0 && n.State != steps.NodeDone {
			said = append(said, "waits for "+strings.Join(waits, ", "))
		}
		if n.Was > 0 {
			said = append(said, fmt.Sprintf("was %d", n.Was))
		}
		what := ""
		if n.What != "" {
			what = " (" + n.What + ")"
		}
		d.sayf("      %d. %s%s: %s", i+1, n.Name, what, strings.Join(said, "; "))
	}
	for _, r := range g.Reasons {
		d.sayf("      why: %s", r)
	}
}

// way says what a change passes from Git down, one line each, with how it stands.
func (d *Dialogue) way(g *steps.Graph) {
	d.say("      From Git down:")
	for i, n := range g.Nodes {
		what := n.State
		if n.What != "" {
			what += ": " + n.What
		}
		d.sayf("      %d. %s: %s", i+1, n.Name, what)
	}
}
