package runbooks

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/triage"
)

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
