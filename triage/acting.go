package triage

import (
	"maps"
	"slices"
)

// BeforeAct is the state as it would be had the act under way not begun: its gate
// is confirmed, and whatever was recorded since stands. An executor asks the laws
// of it once more.
func (s State) BeforeAct() State {
	id := s.Acting
	g, ok := s.Gates[id]
	if !ok {
		return s
	}
	s.Acting = ""
	g.Phase = GateConfirmed
	s.Gates = maps.Clone(s.Gates)
	s.Gates[id] = g
	s.Steps = slices.Clone(s.Steps)
	if i := slices.IndexFunc(s.Steps, func(st Step) bool { return st.ID == id }); i >= 0 {
		s.Steps[i].Status = Pending
	}
	return s
}
