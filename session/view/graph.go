package view

import (
	"strings"

	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// graphOf is what the facts of a step are drawn as, nil where its kind draws
// nothing or nothing is known yet.
func (s *Scene) graphOf(st triage.Step) *steps.Graph {
	k, ok := s.Catalog.Lookup(st.Uses)
	if !ok || k.Drawing == nil || len(st.Facts) == 0 {
		return nil
	}
	g, ok := k.Drawing.Graph(st.Facts)
	if !ok {
		return nil
	}
	return &g
}

// drawnFact is the graph that shows a fact which a step puts before the person,
// nil where the fact is shown by itself.
func (s *Scene) drawnFact(at triage.Step, name string) *steps.Graph {
	part := strings.Split(name, ".")
	if len(part) != 3 || part[0] != "facts" {
		return nil
	}
	st, ok := s.State.Step(journal.BookOf(at.ID) + "/" + part[1])
	if !ok {
		return nil
	}
	k, ok := s.Catalog.Lookup(st.Uses)
	if !ok || k.Drawing == nil || !k.Drawing.Has(part[2]) {
		return nil
	}
	return s.graphOf(st)
}
