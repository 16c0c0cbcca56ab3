package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/triage/record"
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

// Findings are judged anew when more is read, and what a later reading does not find any
// more is resolved by it: no person is asked about it. The state keeps which reading that was.

// Gone is a critical finding that a later reading does not find any more.
type Gone struct {
	Step    string
	Finding Finding
	By      string // the step whose reading shows it
	Seq     int64  // the entry of that reading
	At      time.Time
}

// FindingsSet says what the newest reading of a step is worth saying about once the
// readings beside it are in: a finding may stand on the facts of several steps.
type FindingsSet struct {
	Step     string    `json:"step"`
	N        int       `json:"n"`
	Findings []Finding `json:"findings,omitempty"`
	Gone     []GoneBy  `json:"gone,omitempty"`
}

// GoneBy is a finding that does not hold any more by what another step read later.
type GoneBy struct {
	Finding string `json:"finding"` // its very text
	By      string `json:"by"`
}

// Type implements [Body].
func (FindingsSet) Type() string { return "findings" }

func (b FindingsSet) fold(f *folder) error {
	i := f.find(b.Step)
	switch {
	case i < 0:
		return f.refuse("the plan has no step %q", b.Step)
	case f.s.Steps[i].Attempts != b.N || f.s.Steps[i].Status == Running || f.s.Steps[i].Outcome != "ok" && f.s.Steps[i].Status != Stale:
		return f.refuse("attempt %d of %q is not its newest reading", b.N, b.Step)
	}
	st := f.step(i)
	before := st.Findings
	st.Findings = Judged(st.Findings, b.Findings)
	st.Overruled, st.Answered = stillOverruled(st.Overruled, st.Findings), stillAnswered(st.Answered, st.Findings)
	f.standsAgain(st)
	return f.gone(st, before, b.Gone)
}

func (b FindingsSet) moment(_ *folder) Moment {
	m := Moment{Step: b.Step, Text: b.Step + " judged with what was read beside it"}
	for i, g := range b.Gone {
		if i == 0 {
			m.Text, m.Level = "what "+b.Step+" found is resolved", "info"
		}
		m.Text += fmt.Sprintf("; %s does not find any more: %s", g.By, strings.TrimSpace(g.Finding))
	}
	for _, x := range b.Findings {
		if x.Level == record.Critical || (x.Level == record.Warning && m.Level == "") {
			m.Level = string(x.Level)
		}
	}
	return m
}

// Again is the newest reading of what a step read, by another step that began once it had
// ended: the same kind with the same parameters.
func Again(s State, st Step) (Step, bool) {
	var out Step
	if st.EndSeq == 0 || st.Uses == "" {
		return out, false
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		later := x.Outcome == "ok" && x.Status != Running && x.Status != Stale && !x.Void && x.StartSeq > st.EndSeq && x.EndSeq > x.StartSeq
		if x.ID != st.ID && later && x.Uses == st.Uses && sameValues(x.With, st.With) && x.EndSeq > out.EndSeq {
			out = *x
		}
	}
	return out, out.ID != ""
}

func sameValues(a, b map[string]Value) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if w, ok := b[name]; !ok || !v.Known() || !w.Known() || !v.Equal(w) {
			return false
		}
	}
	return true
}

// readAway keeps what a step itself does not find any more, where it was read whole.
func (f *folder) readAway(st *Step, before []Finding) {
	if st.Outcome != "ok" {
		return
	}
	for _, was := range before {
		still := func(x Finding) bool { return x.Restates(was) }
		if was.Level == record.Critical && !was.Unsure && was.Rule != 0 && !slices.ContainsFunc(st.Findings, still) {
			f.s.Gone = append(slices.Clip(f.s.Gone), Gone{Step: st.ID, Finding: was, By: st.ID, Seq: f.e.Seq, At: f.e.At})
		}
	}
}

// gone keeps what readings of other steps show gone.
func (f *folder) gone(st *Step, before []Finding, list []GoneBy) error {
	for _, g := range list {
		i := slices.IndexFunc(before, func(x Finding) bool { return x.Tells() && x.Say == g.Finding })
		by, _ := f.s.Step(g.By)
		switch {
		case i < 0 || slices.ContainsFunc(st.Findings, func(x Finding) bool { return x.Say == g.Finding }):
			return f.refuse("%q did not find that, or finds it still", st.ID)
		case by.ID == st.ID || by.EndSeq <= st.EndSeq || by.Outcome != "ok" && by.Kind != AskStep:
			return f.refuse("%q was not read after %q", g.By, st.ID)
		}
		f.s.Gone = append(slices.Clip(f.s.Gone), Gone{Step: st.ID, Finding: before[i], By: by.ID, Seq: by.EndSeq, At: by.Ended})
	}
	return nil
}

// standsAgain takes back that a finding is gone where it stands again.
func (f *folder) standsAgain(st *Step) {
	back := func(g Gone) bool {
		return g.Step == st.ID && slices.ContainsFunc(st.Findings, func(x Finding) bool { return x.Rule == g.Finding.Rule && x.Say == g.Finding.Say })
	}
	if slices.ContainsFunc(f.s.Gone, back) {
		f.s.Gone = slices.DeleteFunc(slices.Clone(f.s.Gone), back)
	}
}
