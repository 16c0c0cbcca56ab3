package order

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const mostFaults = 40

var (
	nameText = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)
	edgeText = regexp.MustCompile(`^([a-z][a-z0-9_]{0,40}) before ([a-z][a-z0-9_]{0,40}) because (.+)$`)
)

// Plan is an order of repair with its grounds.
type Plan struct {
	Proposed []string   // by the table
	Order    []string   // as it is to be gone: Proposed, or what a person chose
	Edges    []Edge     // between the faults that are there
	Cycles   [][]string // faults that hold each other up, each beginning with its first by the table
	Against  []Edge     // edges that Order goes against
	Strange  []string   // faults that the table does not know
}

// Blockers names what is repaired before a fault, in order.
func (p Plan) Blockers(fault string) []string {
	var out []string
	for _, f := range p.Order {
		if slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.Before == f && e.After == fault }) {
			out = append(out, f)
		}
	}
	return out
}

// ParseEdge reads an edge that a team adds: "A before B because REASON".
func ParseEdge(text string) (Edge, error) {
	m := edgeText.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil || utf8.RuneCountInString(m[3]) > 300 {
		return Edge{}, fmt.Errorf("%q is not like: quota before webhook because its Pods are refused", text)
	}
	if m[1] == m[2] {
		return Edge{}, fmt.Errorf("%q: a fault is not before itself", text)
	}
	return Edge{Before: m[1], After: m[2], Why: m[3], Own: true}, nil
}

var errNone = errors.New("no fault is named")

// Make orders faults. also are edges besides the table; first, when set, is put
// first, and chosen, when set, is taken as it is: both are the choice of a person.
func Make(faults []string, also []Edge, first string, chosen []string) (Plan, error) {
	var p Plan
	rank := map[string]int{}
	for i, f := range Known() {
		rank[f.Name] = i
	}
	var all []string
	for _, f := range faults {
		switch {
		case !nameText.MatchString(f):
			return p, fmt.Errorf("%q is not a valid name of a fault: want letters, digits and _", f)
		case slices.Contains(all, f):
			continue
		}
		if _, known := rank[f]; !known {
			rank[f] = len(rank)
			p.Strange = append(p.Strange, f)
		}
		all = append(all, f)
	}
	switch {
	case len(all) == 0:
		return p, errNone
	case len(all) > mostFaults:
		return p, fmt.Errorf("%d faults, want %d at most", len(all), mostFaults)
	}
	slices.SortFunc(all, func(a, b string) int { return rank[a] - rank[b] })
	p.edges(all, also)
	p.sort(all)
	p.Order = slices.Clone(p.Proposed)
	if err := p.choose(first, chosen); err != nil {
		return p, err
	}
	at := func(f string) int { return slices.Index(p.Order, f) }
	for _, e := range p.Edges {
		if at(e.Before) > at(e.After) {
			p.Against = append(p.Against, e)
		}
	}
	return p, nil
}

func (p *Plan) edges(all []string, also []Edge) {
	for _, e := range append(Table(), also...) {
		there := slices.ContainsFunc(p.Edges, func(f Edge) bool { return f.Before == e.Before && f.After == e.After })
		if !there && slices.Contains(all, e.Before) && slices.Contains(all, e.After) {
			p.Edges = append(p.Edges, e)
		}
	}
}

// sort takes, again and again, the first fault that nothing left holds up. Where
// everything left is held up there is a cycle: it is named, and the first of it
// goes first.
func (p *Plan) sort(all []string) {
	left := slices.Clone(all)
	held := func(f string) bool {
		return slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.After == f && slices.Contains(left, e.Before) })
	}
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(f string) bool { return !held(f) })
		if next < 0 {
			cycle := p.cycle(left)
			p.Cycles = append(p.Cycles, cycle)
			next = slices.Index(left, cycle[0])
		}
		p.Proposed = append(p.Proposed, left[next])
		left = slices.Delete(left, next, next+1)
	}
}

// cycle follows what holds up what until it comes back; every fault that is left
// is held up, so it does.
func (p *Plan) cycle(left []string) []string {
	var path []string
	at := left[0]
	for !slices.Contains(path, at) {
		path = append(path, at)
		for _, f := range left {
			if slices.ContainsFunc(p.Edges, func(e Edge) bool { return e.Before == f && e.After == path[len(path)-1] }) {
				at = f
				break
			}
		}
	}
	cycle := path[slices.Index(path, at):]
	slices.Reverse(cycle) // from what is before to what is after
	first := 0
	for i, f := range cycle {
		if slices.Index(left, f) < slices.Index(left, cycle[first]) {
			first = i
		}
	}
	return append(cycle[first:len(cycle):len(cycle)], cycle[:first]...)
}

// choose takes over what a person wants.
func (p *Plan) choose(first string, chosen []string) error {
	if len(chosen) > 0 {
		a, b := slices.Sorted(slices.Values(chosen)), slices.Sorted(slices.Values(p.Proposed))
		if !slices.Equal(a, b) {
			return fmt.Errorf("the order %s does not name each of %s once", strings.Join(chosen, ", "), strings.Join(p.Proposed, ", "))
		}
		p.Order = slices.Clone(chosen)
	}
	if first == "" {
		return nil
	}
	i := slices.Index(p.Order, first)
	if i < 0 {
		return fmt.Errorf("%q is to be first and is not one of %s", first, strings.Join(p.Proposed, ", "))
	}
	p.Order = append([]string{first}, slices.Delete(p.Order, i, i+1)...)
	return nil
}
