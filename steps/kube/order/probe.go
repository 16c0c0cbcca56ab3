package order

import (
	"context"
	"fmt"
	"io"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/report"
)

const (
	nameForm = `[a-z][a-z0-9_]{0,40}`
	// asDrawn is the answer of a person who wants no other order.
	asDrawn = "as_drawn"
)

func facts() []steps.Field {
	return []steps.Field{
		{Name: "order", Type: steps.Strings, Doc: "the faults in the order in which to repair them"},
		{Name: "first", Type: steps.String, Doc: "the first of them"},
		{Name: "next", Type: steps.String, Doc: "the first of them that is not repaired, empty where all are"},
		{Name: "states", Type: steps.Table, Doc: "each fault to done, open or unknown"},
		{Name: "what", Type: steps.Table, Doc: "each fault to what it is, in a few words"},
		{Name: "blocked_by", Type: steps.Table, Doc: "each fault to those that are repaired before it, empty where there are none"},
		{Name: "reasons", Type: steps.Strings, Doc: "why each is repaired before others"},
		{Name: "proposed", Type: steps.Strings, Doc: "the order by the table alone, before it was changed"},
		{Name: "changed", Type: steps.Bool, Doc: "whether a person changed the order"},
		{Name: "against", Type: steps.Strings, Doc: "the edges that the order goes against, with their reasons"},
		{Name: "cycles", Type: steps.Strings, Doc: "faults that hold each other up, as a -> b -> a"},
		{Name: "graph", Type: steps.Strings, Doc: "the graph, a line of the drawing each"},
	}
}

// drawing is what is drawn of them.
func drawing() *steps.Drawing {
	return &steps.Drawing{Order: "order", After: "blocked_by", What: "what", States: "states", Was: "proposed", Reasons: "reasons", Lines: "graph"}
}

type probe struct{}

// Probe implements steps.Prober.
func (probe) Probe(_ context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	var also []Edge
	for _, text := range in["also"].Strings() {
		e, err := ParseEdge(text)
		if err != nil {
			return steps.Observation{}, err
		}
		also = append(also, e)
	}
	first := in.Text("first")
	if first == asDrawn {
		first = ""
	}
	faults, states := states(in)
	p, err := Make(faults, also, first, in["order"].Strings())
	if err != nil {
		return steps.Observation{}, err
	}
	g := p.Graph(states)
	var s report.Report
	s.Obs.Command = "handrail step show kube/repair-order"
	for _, ascii := range []bool{false, true} {
		role := "graph"
		if ascii {
			role = "graph-ascii"
		}
		text := strings.Join(Lines(g, ascii), "\n") + "\n\n" + strings.Join(g.Reasons, "\n") + "\n"
		if gap := steps.Keep(out, role, steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); gap != "" {
			s.Gap("%s", gap)
		}
	}
	tell(&s, p, g, in.Text("place"))
	return s.Obs, nil
}

// states are the faults that are told, and how each stands. What is told
// twice stands as it is told by who is more cautious.
func states(in steps.Params) ([]string, map[string]string) {
	states := map[string]string{}
	var all []string
	for _, told := range []struct{ param, state string }{{"mended", steps.NodeDone}, {"faults", steps.NodeOpen}, {"unsure", steps.NodeUnsure}} {
		for _, f := range in[told.param].Strings() {
			all, states[f] = append(all, f), told.state
		}
	}
	return all, states
}

func tell(s *report.Report, p Plan, g steps.Graph, place string) {
	f := steps.NewFacts(facts())
	blocked, states, what := map[string]string{}, map[string]string{}, map[string]string{}
	done := 0
	for _, n := range g.Nodes {
		blocked[n.Name], states[n.Name], what[n.Name] = strings.Join(n.After, ", "), n.State, n.What
		if n.State == steps.NodeDone {
			done++
		}
	}
	next := ""
	if i := g.Next(); i >= 0 {
		next = g.Nodes[i].Name
	}
	f.Set("order", steps.StringsOf(p.Order))
	f.Set("first", steps.StringOf(p.Order[0]))
	f.Set("next", steps.StringOf(next))
	f.Set("states", steps.TableOf(states))
	f.Set("what", steps.TableOf(what))
	f.Set("blocked_by", steps.TableOf(blocked))
	f.Set("reasons", steps.StringsOf(g.Reasons))
	f.Set("proposed", steps.StringsOf(p.Proposed))
	f.Set("changed", steps.BoolOf(g.Changed()))
	f.Set("graph", steps.StringsOf(Lines(g, false)))
	var against, cycles []string
	for _, e := range p.Against {
		against = append(against, e.String())
		if g.Changed() {
			s.Obs.Say(steps.Warning, "The order goes against: %s.", e)
		}
	}
	for _, c := range p.Cycles {
		cycles = append(cycles, strings.Join(append(c, c[0]), " -> "))
		s.Obs.Say(steps.Critical, "These hold each other up: %s. No order repairs them; one of the edges has to be broken first, such as by narrowing what a webhook or a quota is about.", cycles[len(cycles)-1])
	}
	f.Set("against", steps.StringsOf(against))
	f.Set("cycles", steps.StringsOf(cycles))
	for _, name := range p.Strange {
		s.Obs.Say(steps.Info, "%s is no fault that handrail knows: it stands last, unless an edge of your own says more.", name)
	}
	s.Obs.Summary = summary(g, done, place)
	s.Obs.Facts = f.Rest("not told")
}

// summary is the line of the journal. Nothing says how the faults stand but
// what was told, so neither does it.
func summary(g steps.Graph, done int, place string) string {
	of := ""
	if place != "" {
		of = " in " + steps.Clip(place, 200)
	}
	if g.Changed() {
		of += ", in the order that a person chose"
	}
	var names []string
	for _, n := range g.Nodes {
		names = append(names, n.Name)
	}
	all := strings.Join(names, ", ")
	switch next := g.Next(); {
	case next < 0:
		return fmt.Sprintf("All %d faults%s are repaired: %s.", len(names), of, all)
	case done > 0:
		return fmt.Sprintf("%d of %d faults%s are repaired; next is %s. The order: %s.", done, len(names), of, names[next], all)
	}
	if len(names) == 1 {
		return fmt.Sprintf("One fault%s: %s.", of, all)
	}
	return fmt.Sprintf("%d faults%s. Repair them in this order: %s.", len(names), of, all)
}

// Step is the row of kube/repair-order.
func Step() steps.Kind {
	return steps.Kind{
		Name: "kube/repair-order", Class: steps.Probe, Facts: facts(), Drawing: drawing(),
		Params: []steps.Field{
			{Name: "faults", Type: steps.Strings, Required: true, Doc: "the faults that were found, by the names of docs/repair-order.md: quota, rbac, pvc, egress_dns"},
			{Name: "mended", Type: steps.Strings, Doc: "faults that were found and are repaired; they are drawn as done"},
			{Name: "unsure", Type: steps.Strings, Doc: "faults that may or may not be there; they are drawn as unknown, never as done"},
			{Name: "place", Type: steps.String, Doc: "where they are, for the person who reads it"},
			{Name: "first", Type: steps.String, Pattern: nameForm, Doc: "the fault that a person wants first; as_drawn for no wish"},
			{Name: "order", Type: steps.Strings, Doc: "the whole order that a person wants instead"},
			{Name: "also", Type: steps.Strings, Doc: "edges that a team knows besides, each as: A before B because REASON"},
		},
		Doc:     "Says in which order to repair faults that hold each other up, with the reason of every step, and draws it. Reads no cluster: the faults are what other steps found.",
		Touches: []string{"nothing"},
		Reads:   func(steps.Env) steps.Prober { return probe{} },
	}
}
