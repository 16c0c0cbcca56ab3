package session

import (
	"strings"

	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// graphOf is what the facts of a step are drawn as, nil where its kind draws
// nothing or nothing is known yet.
func (s *Session) graphOf(st triage.Step) *steps.Graph {
	k, ok := s.cfg.Catalog.Lookup(st.Uses)
	if !ok || k.Drawing == nil || len(st.Facts) == 0 {
		return nil
	}
	facts := make(map[string]steps.Value, len(st.Facts))
	for name, v := range st.Facts {
		facts[name] = journal.Loaded(v)
	}
	g, ok := k.Drawing.Graph(facts)
	if !ok {
		return nil
	}
	return &g
}

// drawnFact is the graph that shows a fact which a step puts before the person,
// nil where the fact is shown by itself.
func (s *Session) drawnFact(at triage.Step, name string) *steps.Graph {
	part := strings.Split(name, ".")
	if len(part) != 3 || part[0] != "facts" {
		return nil
	}
	st, ok := s.state.Step(journal.BookOf(at.ID) + "/" + part[1])
	if !ok {
		return nil
	}
	k, ok := s.cfg.Catalog.Lookup(st.Uses)
	if !ok || k.Drawing == nil || !k.Drawing.Has(part[2]) {
		return nil
	}
	return s.graphOf(st)
}
