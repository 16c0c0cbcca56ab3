package steps

import (
	"slices"
	"strings"
)

// Drawing names the facts of a kind that are drawn together: things in an order,
// and what each of them waits for. Any kind may have one; the code that shows a step
// draws it in place of these facts.
type Drawing struct {
	Order   string // strings: the names, from the first to the last
	After   string // table: a name to those that it waits for, with ", " between
	What    string // table: a name to what it is, in a few words
	States  string // table: a name to done, open or unknown
	Was     string // strings: the order that was proposed, before it was changed
	Reasons string // strings: why it is so, a line each
	Lines   string // strings: the same as lines of text, for a screen that cannot draw
	// Way says that it is no order of work: a name stands below what it comes from, and its state is
	// fine, fails, held, differs or unknown.
	Way bool
}

// Has reports whether a fact is part of the drawing.
func (d Drawing) Has(fact string) bool {
	return fact != "" && slices.Contains([]string{d.Order, d.After, d.What, d.States, d.Was, d.Reasons, d.Lines}, fact)
}

// How a node of a graph stands. What is not known is never taken for done.
const (
	NodeDone   = "done"
	NodeOpen   = "open"
	NodeUnsure = "unknown"

	// Of a way.
	NodeFine    = "fine"
	NodeFails   = "fails"
	NodeHeld    = "held" // nothing new passes, since it is paused, deleted or waits
	NodeDiffers = "differs"
)

// Node is one thing of a graph.
type Node struct {
	Name, What string
	State      string   // NodeDone, NodeOpen, NodeUnsure
	After      []string // the names that it waits for
	Was        int      // its place in the proposed order, from 1, of one that was moved; else 0
}

// Graph is what a Drawing comes to.
type Graph struct {
	Nodes   []Node // in the order in which to go through them
	Reasons []string
	Of      Drawing // the facts that it is made of, where it is made of facts
}

// Changed reports whether another order than the proposed one is wanted.
func (g Graph) Changed() bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Was > 0 })
}

// Next is the first node that is not done, -1 where all are.
func (g Graph) Next() int {
	return slices.IndexFunc(g.Nodes, func(n Node) bool { return n.State != NodeDone })
}

// Waits names what a node waits for that is not done.
func (g Graph) Waits(n Node) []string {
	var out []string
	for _, o := range g.Nodes {
		if o.State != NodeDone && slices.Contains(n.After, o.Name) {
			out = append(out, o.Name)
		}
	}
	return out
}

// Graph draws the facts of a step together. Where the order or what waits for
// what is unknown there is nothing to draw.
func (d Drawing) Graph(facts map[string]Value) (Graph, bool) {
	order, after := facts[d.Order], facts[d.After]
	if !order.Known() || !after.Known() || len(order.Strings()) == 0 {
		return Graph{}, false
	}
	g := Graph{Of: d, Reasons: facts[d.Reasons].Strings()}
	what, states, was := facts[d.What].Table(), facts[d.States].Table(), Moved(order.Strings(), facts[d.Was].Strings())
	for _, name := range order.Strings() {
		n := Node{Name: name, What: what[name], State: states[name], Was: was[name]}
		if known := map[bool][]string{false: {NodeDone, NodeOpen}, true: {NodeFine, NodeFails, NodeHeld, NodeDiffers}}[d.Way]; !slices.Contains(known, n.State) {
			n.State = NodeUnsure
		}
		if list := after.Table()[name]; list != "" {
			n.After = strings.Split(list, ", ")
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g, true
}

// Moved says which names were moved to make one order of another, as few of
// them as can be, and the place where each was, from 1: where one is put first,
// the others were not moved.
func Moved(order, was []string) map[string]int {
	at := make([]int, len(order)) // where each was, -1 where it was not there
	run := make([]int, len(order))
	prev := make([]int, len(order))
	best := -1
	for i, name := range order {
		at[i], prev[i] = slices.Index(was, name), -1
		if at[i] < 0 {
			continue
		}
		run[i] = 1
		for j := range i {
			if at[j] >= 0 && at[j] < at[i] && run[j] >= run[i] {
				run[i], prev[i] = run[j]+1, j
			}
		}
		if best < 0 || run[i] >= run[best] {
			best = i
		}
	}
	stayed := map[int]bool{}
	for ; best >= 0; best = prev[best] {
		stayed[best] = true
	}
	out := map[string]int{}
	for i, name := range order {
		if at[i] >= 0 && !stayed[i] {
			out[name] = at[i] + 1
		}
	}
	return out
}

// Depths say how far to the right each node of a way stands: one that comes alone from a node at the
// left edge stands below it there, any other one further than what it comes from.
func (g Graph) Depths() []int {
	at, below := map[string]int{}, map[string]int{}
	for _, n := range g.Nodes {
		if len(n.After) > 0 {
			below[n.After[0]]++
		}
	}
	out := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if len(n.After) > 0 {
			if from, there := at[n.After[0]]; there && (from > 0 || below[n.After[0]] > 1) {
				out[i] = from + 1
			}
		}
		at[n.Name] = out[i]
	}
	return out
}
