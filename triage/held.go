package triage

import "slices"

// What the loop would have done about a gate that applies and stays shut, before a person
// goes past it.

// past reports whether a want comes once the gates acted: it gives back what a pause took,
// looks at what a gate that is held would have changed, is a part of verify, or comes
// after it.
func past(s *State, w want, held []string, judge func(step string) []Verdict) bool {
	st, ok := s.Step(w.step)
	switch {
	case w.kind == DoClose || w.kind == DoResolve:
		return true
	case !ok:
		return false
	case w.kind == DoProbe && st.Phase == Recover:
		return slices.Contains(held, gateBefore(s, st.ID, judge))
	}
	return st.Phase == Verify || w.kind == DoPreview && resumes(st.Uses)
}

// gateBefore is the last gate of the plan before a step, of those that may apply: what is
// read behind it looks at what it did.
func gateBefore(s *State, id string, judge func(step string) []Verdict) string {
	out := ""
	for i := range s.Steps {
		switch st := &s.Steps[i]; {
		case st.Retired:
		case st.ID == id:
			return out
		case st.Kind == GateStep && !aside(st.ID, judge):
			out = st.ID
		}
	}
	return ""
}

// lookBehind marks the first light read whose finding keeps a gate shut, where it is older
// than what people said or did since: what it found may be over. Once it was read again,
// only another word asks for it anew.
func lookBehind(s *State, gate string, options []Option) bool {
	word := int64(0)
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Kind != ProbeStep && st.Kind != WatchStep && st.Kind != CompareStep {
			word = max(word, st.EndSeq)
		}
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Kind != ProbeStep || st.Heavy || st.Retired || st.EndSeq == 0 || st.EndSeq > word {
			continue
		}
		against := slices.ContainsFunc(st.Speaking(), func(f Finding) bool { return slices.Contains(f.Against, gate) })
		if against && mark(options, want{kind: DoProbe, step: st.ID}) {
			return true
		}
	}
	return false
}

// askAgain marks the first question on which a gate stands and which was answered with
// unknown, where something was learned since, by a word or by a first reading: it may be known
// now. Once it was asked again, only what is learned after that asks it anew.
func askAgain(s *State, gate string, options []Option) bool {
	learned := int64(0)
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Status == Settled && st.Attempts <= 1 {
			learned = max(learned, st.EndSeq)
		}
	}
	g, _ := s.Step(gate)
	return slices.ContainsFunc(g.Refs, func(id string) bool {
		st, ok := s.Step(id)
		return ok && !st.Retired && st.Kind == AskStep && st.Status == CannotTell && st.Answer == Unknown && st.EndSeq < learned &&
			mark(options, want{kind: DoAnswer, step: id})
	})
}
