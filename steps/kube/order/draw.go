package order

import (
	"fmt"
	"strconv"
	"strings"

	"handrail/steps"
)

// Graph is the plan for the code that draws it. states say how each fault stands; one
// that is not named is open.
func (p Plan) Graph(states map[string]string) steps.Graph {
	g := steps.Graph{Reasons: p.Reasons()}
	was := steps.Moved(p.Order, p.Proposed)
	for _, f := range p.Order {
		n := steps.Node{Name: f, What: What(f), State: states[f], After: p.Blockers(f), Was: was[f]}
		if n.State == "" {
			n.State = steps.NodeOpen
		}
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

// Lines draws a graph as text: a row for each fault, with the lines from it to
// what waits for it. States are written where they tell anything.
func Lines(g steps.Graph, ascii bool) []string {
	names, states := 0, 0
	for _, n := range g.Nodes {
		names, states = max(names, len(n.Name)), max(states, len(word(n)))
	}
	if states > 0 {
		states += 2
	}
	var out []string
	for i, r := range g.Rails() {
		at, n := r.At, g.Nodes[i]
		if ascii {
			at = steps.InASCII(at)
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("%s %*d %-*s  %-*s%s", at, len(strconv.Itoa(len(g.Nodes))), i+1, names, n.Name, states, word(n), n.What), " "))
	}
	return out
}

// word is what there is to say of how a node stands.
func word(n steps.Node) string {
	var out []string
	if n.State != steps.NodeOpen {
		out = append(out, n.State)
	}
	if n.Was > 0 {
		out = append(out, fmt.Sprintf("was %d", n.Was))
	}
	return strings.Join(out, ", ")
}

// What is a fault in a few words, "" for one that the table does not know.
func What(name string) string {
	for _, f := range Known() {
		if f.Name == name {
			return f.What
		}
	}
	return ""
}

// Reasons are the edges in words, in the order of what is repaired first. What is
// repaired first for one reason stands in one of them.
func (p Plan) Reasons() []string {
	type key struct {
		before, why string
		own         bool
	}
	after := map[key][]string{}
	var order []key
	for _, f := range p.Order {
		for _, g := range p.Order {
			for _, e := range p.Edges {
				if e.Before != f || e.After != g {
					continue
				}
				k := key{f, e.Why, e.Own}
				if after[k] == nil {
					order = append(order, k)
				}
				after[k] = append(after[k], g)
			}
		}
	}
	var out []string
	for _, k := range order {
		out = append(out, Edge{Before: k.before, After: strings.Join(after[k], ", "), Why: k.why, Own: k.own}.String())
	}
	return out
}

// String is an edge in words.
func (e Edge) String() string {
	s := fmt.Sprintf("%s before %s: %s", e.Before, e.After, e.Why)
	if e.Own {
		s += " (added by the team)"
	}
	return s
}
