package triage

import (
	"maps"
	"slices"

	"handrail/triage/record"
)

// What stood on a parameter that has another value now. A step names the parameters
// that it uses, so that what used none of those stays as it is. In a plan from before
// steps did, a change makes everything stale that was read.

// reasked is why what used a parameter is to be read or answered again.
const reasked = "a parameter has another value now; read it again"

// Params are the parameters of a runbook as its newest plan has them. What a plan
// leaves out keeps the value of the plan before.
func (s State) Params(runbook string) map[string]Value {
	out := map[string]Value{}
	for _, p := range s.Plans {
		if p.Runbook == runbook {
			maps.Copy(out, p.Params)
		}
	}
	return out
}

// Reparamed names, in order, the parameters that a plan would give another value than
// its runbook has in this incident; none where the runbook was not in force yet. A
// text that was not given is an empty one.
func (s State) Reparamed(runbook string, params map[string]Value) []string {
	if !slices.ContainsFunc(s.Plans, func(p Plan) bool { return p.Runbook == runbook }) {
		return nil
	}
	old := s.Params(runbook)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if was, v := old[name], params[name]; !sameValue(was, v) && (given(was) || given(v)) {
			out = append(out, name)
		}
	}
	return out
}

func given(v Value) bool { return v.Known() && v.Text() != "" }

// worded is the text of a parameter, "" for one that was not given.
func worded(v Value) string {
	if !given(v) {
		return ""
	}
	return v.Text()
}

// textual reports whether a parameter can say what an incident is about; a limit
// cannot.
func textual(v Value) bool {
	return slices.Contains([]record.Type{record.String, record.Enum, record.Ident, record.Path}, v.Type())
}

// named reports whether the steps of a plan say which parameters they use.
func (b Plan) named() bool {
	return slices.ContainsFunc(b.Steps, func(p PlanStep) bool { return len(p.Params) > 0 })
}

// fallen are the steps of a plan that stood on parameters which it changes: those that
// use one, those that depend on such a step, and the words of people that depend on
// nothing, from the phase on in which the old value was first read: what was said before that
// was said of the same thing. An act stands where nothing that it read falls: people agree to it
// anew, and it is not done again.
func (f *folder) fallen(b Plan, changed []string) map[string]bool {
	out := map[string]bool{}
	for _, p := range b.Steps {
		if meet(p.Params, changed) {
			out[p.ID] = true
		}
	}
	_, from := f.replaced(b, changed)
	words := map[string]bool{}
	for _, p := range b.Steps {
		word := p.Kind == AskStep || p.Kind == ManualStep || p.Kind == ConcludeStep
		words[p.ID] = word
		if word && len(p.Params) == 0 && len(p.Refs) == 0 && from >= 0 && slices.Index(Phases(), p.Phase) >= from {
			out[p.ID] = true
		}
	}
	for grows := true; grows; {
		grows = false
		for _, p := range b.Steps {
			refs := p.Refs
			if f.acted(p) {
				refs = slices.DeleteFunc(slices.Clone(refs), func(id string) bool { return words[id] })
			}
			if !out[p.ID] && slices.ContainsFunc(refs, func(id string) bool { return out[id] }) {
				out[p.ID], grows = true, true
			}
		}
	}
	return out
}

// acted reports whether a step of a plan is a gate that did what it is for.
func (f *folder) acted(p PlanStep) bool {
	i := f.find(p.ID)
	return p.Kind == GateStep && i >= 0 && f.s.Steps[i].Status == Settled
}

// replaced reports whether something was read with a text that is replaced, and from which phase
// on; -1 where nothing was. What was read up to the class says what the incident is about: it
// was about another thing then. What was read after that says only which way was taken out of it.
func (f *folder) replaced(b Plan, changed []string) (about bool, from int) {
	from = -1
	old := f.s.Params(b.Runbook)
	texts := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return !given(old[name]) || !textual(old[name]) })
	for _, p := range b.Steps {
		if i := f.find(p.ID); p.Kind == ProbeStep && meet(p.Params, texts) && i >= 0 && f.s.Steps[i].Attempts > 0 {
			about = about || classifies(p.Phase)
			if at := slices.Index(Phases(), p.Phase); from < 0 || at < from {
				from = at
			}
		}
	}
	return about, from
}

// classifies reports whether a phase is one of those up to the class.
func classifies(p Phase) bool {
	return slices.Index(Phases(), p) <= slices.Index(Phases(), Classify)
}

// reparam makes stale what fell. Conclusions fall with their steps, and with the
// thing that the incident was about.
func (f *folder) reparam(b Plan, fallen map[string]bool, elsewhere bool) {
	for i := range f.s.Steps {
		if fallen[f.s.Steps[i].ID] {
			*f.step(i) = emptied(f.s.Steps[i], f.e.Seq)
		}
	}
	for _, t := range topics() {
		c, ok := f.s.Topics[t]
		if !ok || c.Lapsed {
			continue
		}
		if t == TopicReverts && c.Value == "yes" {
			continue // what reverts every fix is still there until it was looked for again
		}
		i := slices.IndexFunc(b.Steps, func(p PlanStep) bool { return p.Kind == ConcludeStep && Topic(p.Uses) == t })
		if i >= 0 && fallen[b.Steps[i].ID] || i < 0 && elsewhere {
			f.setTopic(Conclusion{Topic: t, Value: Unknown, Lapsed: true, Why: "a parameter has another value now", Seq: f.e.Seq, At: f.e.At})
		}
	}
}

// Pasted is the value of a parameter that stands for a text which was pasted: it is kept
// with the evidence, redacted, and read from there.
const Pasted = "the pasted text"

// paramLaws keep the parameters of a runbook as they are while the target of one of
// its acts is still to be read: it would be looked for elsewhere.
func paramLaws(s *State, runbook string) []Refusal {
	var out []Refusal
	if id := s.Unresolved(); id != "" && runbookOf(id) == runbook {
		out = append(out, Refusal{
			Law: 11, Why: "it is unknown how the act of " + id + " ended",
			Cure: "Open " + id + " to read its target again, then change the parameters.",
		})
	}
	for _, r := range s.Rereads {
		if runbookOf(r.Step) == runbook {
			out = append(out, Refusal{
				Why:  "the target of " + r.Step + " is read again at " + r.Due.UTC().Format("15:04:05") + " UTC",
				Cure: "Wait until then, then change the parameters.",
			})
		}
	}
	return out
}
