package runbooks

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/triage"
)

// Against says which gates a finding speaks against. An empty one is the author's
// word that it speaks against none.
type Against struct {
	gates []string // bare ids, or triage.Closing
	nodes []*yaml.Node
}

// against reads what a finding speaks against; nil where the author says nothing.
func (r *reader) against(n *yaml.Node) *Against {
	if n == nil {
		return nil
	}
	out := &Against{}
	for _, item := range r.Items(n, "against") {
		out.gates = append(out.gates, r.Text(item, "a gate"))
		out.nodes = append(out.nodes, item)
	}
	return out
}

// opponents refuses a finding against what is no gate: it would shut nothing.
func (r *reader) opponents() {
	known := []string{triage.Closing}
	for _, s := range r.book.Steps {
		if s.Kind == triage.GateStep {
			known = append(known, s.ID)
		}
	}
	check := func(a *Against) {
		if a == nil {
			return
		}
		for i, id := range a.gates {
			if id != "" && !slices.Contains(known, id) {
				r.Fail(a.nodes[i], "one of "+strings.Join(known, ", "), "this runbook has no gate %q", id)
			}
		}
	}
	for _, s := range r.book.Steps {
		check(s.Against)
		for _, f := range s.findings {
			check(f.against)
		}
	}
}

// opposes lists what a finding of the runbook speaks against. A critical one whose
// author does not say speaks against every repair and rerun, and after them against
// closing the incident as recovered.
func (r *Runbook) opposes(s *Step, f finding) []string {
	switch {
	case f.against != nil:
		return r.named(f.against)
	case f.level != steps.Critical:
		return nil
	case s.Phase == triage.Verify:
		return []string{triage.Closing}
	}
	return r.gatesOf(func(g *Step) bool { return g.Class == triage.Repair || g.Class == triage.Rerun })
}

// Opposes lists what that which the kind of a step finds critical by itself speaks
// against. Where the author does not say, these are the reruns that stand on the
// step: a kind cannot know what a repair is for.
func (r *Runbook) Opposes(step string) []string {
	s := r.step(step)
	switch {
	case s == nil:
		return nil
	case s.Against != nil:
		return r.named(s.Against)
	case s.Phase == triage.Verify:
		return []string{triage.Closing}
	}
	return r.gatesOf(func(g *Step) bool { return g.Class == triage.Rerun && slices.Contains(r.refs(g), r.full(s.ID)) })
}

func (r *Runbook) named(a *Against) []string {
	var out []string
	for _, id := range a.gates {
		if id != triage.Closing {
			id = r.full(id)
		}
		out = append(out, id)
	}
	return out
}

func (r *Runbook) gatesOf(is func(g *Step) bool) []string {
	var out []string
	for i := range r.Steps {
		if g := &r.Steps[i]; g.Kind == triage.GateStep && is(g) {
			out = append(out, r.full(g.ID))
		}
	}
	return out
}

// Loose is a critical finding of the author that keeps no gate shut: it wants an answer
// before the close as recovered.
type Loose struct {
	Step  string
	Quote string // the longest part of its words that is the same in every incident
}

// Loose lists them, in order.
func (r *Runbook) Loose() []Loose {
	var out []Loose
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, f := range s.findings {
			if f.level == steps.Critical && len(r.opposes(s, f)) == 0 {
				out = append(out, Loose{s.ID, constant(f.say.written())})
			}
		}
	}
	return out
}

var filled = regexp.MustCompile(`\$\{[^{}]*\}`)

// constant is the longest part of a text that nothing is filled into.
func constant(text string) string {
	longest := ""
	for _, part := range filled.Split(strings.Join(strings.Fields(text), " "), -1) {
		if part = strings.TrimLeft(strings.TrimSpace(part), ".,;:) "); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// doubts are the questions whose answers a finding speaks against: each is asked again before
// the gates that the finding keeps shut are passed.
type doubts struct {
	asks  []string // bare ids
	nodes []*yaml.Node
}

func (r *reader) doubts(n *yaml.Node) (out doubts) {
	if n == nil {
		return out
	}
	for _, item := range r.Items(n, "doubts") {
		out.asks = append(out.asks, r.Text(item, "a question"))
		out.nodes = append(out.nodes, item)
	}
	return out
}

// questioned refuses a finding that doubts what is no question.
func (r *reader) questioned() {
	var known []string
	for _, s := range r.book.Steps {
		if s.Kind == triage.AskStep {
			known = append(known, s.ID)
		}
	}
	for _, s := range r.book.Steps {
		for _, f := range s.findings {
			for i, id := range f.doubts.asks {
				if id != "" && !slices.Contains(known, id) {
					r.Fail(f.doubts.nodes[i], "one of "+strings.Join(known, ", "), "this runbook has no question %q", id)
				}
			}
		}
	}
}

// asked are the questions in full.
func (r *Runbook) asked(d doubts) []string {
	var out []string
	for _, id := range d.asks {
		out = append(out, r.full(id))
	}
	return out
}
