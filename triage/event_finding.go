package triage

import (
	"fmt"
	"slices"
	"strings"
)

// Critical findings that shut no gate: they tell what happened, and nothing asks about
// them on the way. Before an incident is closed as recovered, each of them gets an
// answer: how it was resolved, or the person who takes it from here.

// FindingAnswer answers one critical finding that shuts no gate.
type FindingAnswer struct {
	Step    string `json:"step"`
	Finding string `json:"finding"` // its very text
	How     string `json:"how"`     // resolved or taken
	Why     string `json:"why,omitempty"`
	Person  string `json:"person,omitempty"` // who takes it, or says that it is resolved
}

// Answered is an answer as it was recorded.
type Answered struct {
	FindingAnswer
	Seq   int64
	Actor string
}

// The answers that a critical finding can get.
const (
	Resolved = "resolved" // Why says how
	Taken    = "taken"    // Person has it from here
)

// Type implements [Body].
func (FindingAnswer) Type() string { return "finding.answer" }

func (b FindingAnswer) fold(f *folder) error {
	i := f.find(b.Step)
	switch {
	case i < 0:
		return f.refuse("the plan has no step %q", b.Step)
	case !slices.ContainsFunc(f.s.Steps[i].Telling(), func(x Finding) bool { return x.Say == b.Finding }):
		return f.refuse("%q did not find that, or it is answered", b.Step)
	case b.How == Resolved && blank(b.Why):
		return f.refuse("it does not say how it was resolved")
	case b.How == Taken && blank(b.Person):
		return f.refuse("it does not name who takes it")
	case b.How != Resolved && b.How != Taken:
		return f.refuse("%q is not an answer to a finding: it is resolved, or taken", b.How)
	}
	st := f.step(i)
	st.Answered = append(slices.Clip(st.Answered), b.Finding)
	f.s.Answered = append(slices.Clone(f.s.Answered), Answered{FindingAnswer: b, Seq: f.e.Seq, Actor: f.e.Actor})
	return nil
}

func (b FindingAnswer) moment(_ *folder) Moment {
	what := b.Step + " found: " + strings.TrimSpace(b.Finding)
	if b.How == Taken {
		return Moment{Step: b.Step, Text: because(b.Person+" takes what "+what, b.Why), Level: "info"}
	}
	return Moment{Step: b.Step, Text: fmt.Sprintf("resolved, what %s: %s", what, b.Why), Level: "info"}
}

// Telling lists the critical findings of a step that shut no gate and have no answer.
func (st Step) Telling() []Finding {
	var out []Finding
	for _, f := range st.Findings {
		same := func(x Finding) bool { return x.Say == f.Say }
		if f.Tells() && !slices.Contains(st.Answered, f.Say) && !slices.ContainsFunc(out, same) {
			out = append(out, f)
		}
	}
	return out
}

// stillAnswered keeps the answers to findings that stand; one that comes back later is
// another one.
func stillAnswered(texts []string, fs []Finding) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		return !slices.ContainsFunc(fs, func(f Finding) bool { return f.Tells() && f.Say == text })
	})
}

// untold is what a step found in the plans that count, and no person answered.
func untold(s *State, st *Step) []Finding {
	if !inPlay(s, st) {
		return nil
	}
	return st.Telling()
}

// tellingLaws want an answer to each critical finding that shuts no gate.
func tellingLaws(s *State) []Refusal {
	var out []Refusal
	for i := range s.Steps {
		st := &s.Steps[i]
		for _, f := range untold(s, st) {
			out = append(out, Refusal{Why: "unanswered, " + st.ID + " found: " + strings.TrimSpace(f.Say), Cure: "Say how it was resolved, or who takes it."})
		}
	}
	return out
}
