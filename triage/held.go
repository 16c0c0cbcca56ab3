package triage

import "slices"

// What the loop would have done about a gate that applies and stays shut, before a person
// goes past it.

// want is something that the loop would have done next.
type want struct {
	kind    IntentKind
	step    string
	topic   Topic
	subject string
	value   string
}

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

// lookBehind marks the first read whose finding keeps a gate shut, where it is older
// than what people said or did since: what it found may be over. Once it was read again,
// only another word asks for it anew. In recover, a first read that speaks against what was
// said to be done by hand is read again too: it may be done by now.
func lookBehind(s *State, gate string, options []Option, judge func(step string) []Verdict) bool {
	word, byHand := int64(0), int64(0)
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Kind != ProbeStep && st.Kind != WatchStep && st.Kind != CompareStep {
			word = max(word, st.EndSeq)
		}
		if st.Kind == ManualStep && st.Phase == Recover && st.Status == Settled && byHand == 0 {
			byHand = st.EndSeq
		}
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		late := st.Phase == Recover && st.Attempts == 1 && byHand > 0 && byHand < st.EndSeq
		if st.Kind != ProbeStep || st.Heavy && !late || st.Retired || st.EndSeq == 0 || st.EndSeq > word && !late {
			continue
		}
		against := slices.ContainsFunc(st.Speaking(), func(f Finding) bool { return slices.Contains(f.Against, gate) })
		if against && (renewFor(st.ID, options, judge) || !idle(s, want{kind: DoProbe, step: st.ID}, judge) && mark(options, want{kind: DoProbe, step: st.ID})) {
			return true
		}
	}
	return false
}

// overtaken marks the first read that a gate stands on, where the gate then found its target otherwise and refused:
// what was read before may be over, and the repair with it. One is read again, once; a second refusal stands.
func overtaken(s *State, gate string, options []Option, judge func(step string) []Verdict) bool {
	st, ok := s.Step(gate)
	if !ok || !s.Gates[gate].WasRefused {
		return false
	}
	for _, id := range st.Refs {
		x, ok := s.Step(id)
		if !ok || x.Kind != ProbeStep || x.Retired {
			continue
		}
		if x.Attempts > 1 || x.EndSeq > s.Gates[gate].ClosedSeq {
			return false
		}
		if !x.Heavy && !idle(s, want{kind: DoProbe, step: id}, judge) && mark(options, want{kind: DoProbe, step: id}) {
			return true
		}
	}
	return false
}

// renewFor marks the first read or answer that only grew too old for a step to be known to apply.
func renewFor(step string, options []Option, judge func(step string) []Verdict) bool {
	if judge == nil {
		return false
	}
	var aged []string
	for _, v := range judge(step) {
		for _, name := range v.Aged {
			aged = append(aged, runbookOf(step)+"/"+name)
		}
	}
	return renew(aged, options)
}

// doubted marks the first question whose answer a finding speaks against that keeps a gate shut:
// to go past the gate would leave the wrong answer. Once it was answered again it stands.
func doubted(s *State, gate string, options []Option) bool {
	for i := range s.Steps {
		for _, f := range s.Steps[i].Speaking() {
			if !slices.Contains(f.Against, gate) {
				continue
			}
			for _, id := range f.Doubts {
				if st, ok := s.Step(id); ok && answers(s, id) == 1 && st.EndSeq < s.Steps[i].EndSeq && mark(options, want{kind: DoAnswer, step: id}) {
					return true
				}
			}
		}
	}
	return false
}

// answers counts how often a question was answered.
func answers(s *State, id string) (n int) {
	for _, m := range s.Timeline {
		if m.Step == id && m.Type == (Answer{}).Type() {
			n++
		}
	}
	return n
}

// giveAnew marks the change of the parameter whose value a gate refuses: to go past it would leave
// undone what another value does.
func giveAnew(s *State, gate string, options []Option) bool {
	g := s.Gates[gate]
	return g.WasRefused && len(g.Refuses) > 0 && mark(options, want{kind: DoPlan, step: gate})
}

// ParamsWanted are the parameters that a gate waits for, else those whose values it refused when
// it was last tried.
func (s *State) ParamsWanted(gate string, options []Option) (out []string) {
	for _, o := range options {
		if o.Kind != DoPreview || o.Step != gate {
			continue
		}
		for _, r := range o.Refusals {
			out = append(out, r.Params...)
		}
	}
	if g := s.Gates[gate]; len(out) == 0 && g.WasRefused {
		out = g.Refuses
	}
	return out
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

// aside reports whether a step is known not to apply.
func aside(step string, judge func(step string) []Verdict) bool {
	return judge != nil && slices.ContainsFunc(judge(step), func(v Verdict) bool { return v.Aside && v.Result == "false" })
}

// mark recommends what is wanted where it is available.
func mark(options []Option, w want) bool {
	i := slices.IndexFunc(options, func(o Option) bool { return w.is(&o) && o.Available() })
	if i >= 0 {
		options[i].Recommended = true
	}
	return i >= 0
}

// gateWanted reports whether the loop would open a gate next: one that was not
// used or passed over, and of the containing ones only the narrowest that applies, and
// those that the runbook calls for by a condition of their own once it is done.
func gateWanted(s *State, st *Step, judge func(step string) []Verdict) bool {
	g := s.Gates[st.ID]
	// An act that was cut off and is found not to have happened is still to do.
	// So is one that was undone, once its writer was found.
	// So is one whose parameters changed since, and one that failed and that what was read since allows.
	undone := g.Phase == GateFailed && (g.Found || allowedSince(s, st, judge)) || g.Phase == GateDone && (g.Again.Outcome == Undone || st.Moved > g.EndSeq)
	if st.Status == Skipped || (g.Phase != GateIdle && g.Phase != GateRefused && g.Phase != GateArmed && !undone) {
		return false
	}
	if st.Class != Contain || terminates(st.Uses) {
		return true
	}
	// The narrowest comes first in the plan; another of its kind is no wider.
	for _, p := range s.Plan().Steps {
		switch {
		case p.Kind != GateStep || p.Class != Contain || terminates(p.Uses):
		case p.ID == st.ID || p.Uses != "" && p.Uses == st.Uses:
			return true
		case !aside(p.ID, judge) && (s.Gates[p.ID].Phase != GateDone || !applies(st.ID, judge)):
			return false
		}
	}
	return false
}

// allowedSince reports whether what a gate stands on in recover was read after its act failed, and allows it.
func allowedSince(s *State, st *Step, judge func(step string) []Verdict) bool {
	read := func(id string) bool {
		x, ok := s.Step(id)
		return ok && x.Kind == ProbeStep && x.Phase == Recover && x.Status == Settled && x.EndSeq > s.Gates[st.ID].EndSeq
	}
	return judge != nil && slices.ContainsFunc(st.Refs, read) && !slices.ContainsFunc(judge(st.ID), func(v Verdict) bool { return v.Result != "true" })
}

func (w want) is(o *Option) bool {
	return o.Kind == w.kind && (w.step == "" || o.Step == w.step) && (w.topic == "" || o.Topic == w.topic) &&
		(w.subject == "" || o.Subject == w.subject) && (w.value == "" || o.Value == w.value)
}

// applies reports whether a step has a condition of its own, and it holds.
func applies(step string, judge func(step string) []Verdict) bool {
	return judge != nil && slices.ContainsFunc(judge(step), func(v Verdict) bool { return v.Aside && v.Result == "true" })
}

// idle reports whether a question need not be asked, a task not be done, or a step cannot
// be read: it is not required, and its condition is known not to hold, or of a read not
// known to. A task may be required where its condition holds.
func idle(s *State, w want, judge func(step string) []Verdict) bool {
	st, ok := s.Step(w.step)
	if !ok || st.Required && st.Kind != ManualStep || judge == nil || st.Kind == WatchStep {
		return false
	}
	return slices.ContainsFunc(judge(w.step), func(v Verdict) bool {
		return v.Result == "false" || w.kind == DoProbe && v.Result != "true" || v.Aside && v.Result != "true" && (onAside(s, &st, judge) || spent(s, &st, judge) || st.Status == Pending && onRemoved(s, v))
	})
}

// spent reports whether each gate that stands on a word has acted, was passed over or does not
// apply, one of them has acted or was passed over, and each question that stands on it is answered:
// that what the word depends on grew old since is no reason to ask for it.
func spent(s *State, st *Step, judge func(step string) []Verdict) bool {
	some := false
	for i := range s.Steps {
		x := &s.Steps[i]
		switch {
		case x.Retired || !slices.Contains(x.Refs, st.ID) || x.Kind == GateStep && aside(x.ID, judge) || x.Kind == AskStep && x.Status == Settled:
		case x.Kind != GateStep || x.Status != Skipped && s.Gates[x.ID].Phase != GateDone:
			return false
		default:
			some = true
		}
	}
	return some
}

// onAside reports whether a step stands on a read that does not apply and was not made: what
// is asked about it would be asked about nothing.
func onAside(s *State, st *Step, judge func(step string) []Verdict) bool {
	return slices.ContainsFunc(st.Refs, func(id string) bool {
		x, ok := s.Step(id)
		return ok && x.Kind == ProbeStep && x.Status == Pending && aside(id, judge)
	})
}
