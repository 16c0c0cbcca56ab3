package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/triage/record"
)

// Events of steps that read or ask.

// ProbeStart says that a probe began.
type ProbeStart struct {
	Step   string           `json:"step"`
	N      int              `json:"n"` // attempt, from 1
	Kind   string           `json:"kind"`
	With   map[string]Value `json:"with,omitempty"`
	Layers []string         `json:"layers,omitempty"` // what kept it read-only
}

// Type implements [Body].
func (ProbeStart) Type() string { return "probe.start" }

func (b ProbeStart) fold(f *folder) error {
	i, err := f.current(b.Step, ProbeStep, CompareStep, WatchStep)
	if err != nil {
		return err
	}
	if b.N <= f.s.Steps[i].Attempts {
		return f.refuse("attempt %d of %q does not come after %d", b.N, b.Step, f.s.Steps[i].Attempts)
	}
	// A step that is still running lost its end in a crash; the new attempt wins.
	st := f.step(i)
	st.Status, st.Attempts, st.Started, st.StartSeq, st.Void = Running, b.N, f.e.At, f.e.Seq, false
	st.Elsewhere, st.With = st.EndSeq > 0 && !sameValues(st.With, b.With), b.With
	return nil
}

func (b ProbeStart) moment(_ *folder) Moment {
	return Moment{Step: b.Step, Text: fmt.Sprintf("%s began (attempt %d)", b.Step, b.N)}
}

// ProbeEnd says what a probe saw, or why it could not.
type ProbeEnd struct {
	Step     string           `json:"step"`
	N        int              `json:"n"`
	Outcome  string           `json:"outcome"` // ok, failed, denied, timeout or cancelled
	Summary  string           `json:"summary"`
	Command  string           `json:"command,omitempty"`
	Facts    map[string]Value `json:"facts,omitempty"`
	Findings []Finding        `json:"findings,omitempty"`
	Gaps     []string         `json:"gaps,omitempty"`
	Green    *Value           `json:"green,omitempty"` // of a watch
	Rows     []Compared       `json:"rows,omitempty"`  // of a compare step
	Audit    []string         `json:"audit,omitempty"` // Audit-IDs of the requests that it sent
}

// Type implements [Body].
func (ProbeEnd) Type() string { return "probe.end" }

func (b ProbeEnd) fold(f *folder) error {
	i := f.find(b.Step)
	switch {
	case i < 0:
		return f.refuse("the plan has no step %q", b.Step)
	case f.s.Steps[i].Status != Running || f.s.Steps[i].Attempts != b.N:
		return f.refuse("attempt %d of %q is not running", b.N, b.Step)
	case !slices.Contains([]string{"ok", "failed", "denied", "timeout", "cancelled"}, b.Outcome):
		return f.refuse("%q is not an outcome of a probe", b.Outcome)
	}
	if len(b.Rows) > 0 && (f.s.Steps[i].Kind != CompareStep || !readable(b.Rows)) {
		return f.refuse("%q compares more than a step can", b.Step)
	}
	st := f.step(i)
	facts := b.Facts
	if b.Outcome != "ok" {
		facts = forgotten(st.Facts, b)
	}
	changed := changedFacts(st.Facts, facts)
	st.Outcome, st.Summary, st.Command = b.Outcome, b.Summary, b.Command
	before := st.Findings
	st.Facts, st.Findings, st.Gaps, st.Rows = facts, found(st.Findings, b), b.Gaps, b.Rows
	st.Overruled, st.Answered = stillOverruled(st.Overruled, st.Findings), stillAnswered(st.Answered, st.Findings)
	if !st.Elsewhere {
		f.readAway(st, before)
	}
	f.standsAgain(st)
	switch {
	case st.Kind == WatchStep:
		f.sample(st, b)
	case b.Outcome == "ok":
		f.settled(st, Settled)
		st.KeptSeq, st.KeptAt = st.EndSeq, st.Ended
	default:
		f.settled(st, CannotTell)
		if st.Elsewhere && len(st.With) > 0 { // without any it never began: what it was to read is not known
			st.KeptSeq, st.KeptAt = 0, time.Time{}
		}
	}
	if st.Void {
		void := *st
		void.Void = false
		*st = emptied(void, st.Moved)
	}
	if len(changed) > 0 {
		why := "facts of " + b.Step + " changed: " + strings.Join(changed, ", ")
		f.changed(b.Step, why)
		f.stale(f.about(b.Step, changed), why)
	}
	return nil
}

// about lists what was said of facts of a step that changed since: words about one
// plan are none about the next.
func (f *folder) about(step string, facts []string) []string {
	var out []string
	for _, st := range f.s.Steps {
		if slices.ContainsFunc(facts, func(name string) bool { return slices.Contains(st.About, step+"."+name) }) {
			out = append(out, st.ID)
		}
	}
	return out
}

func (b ProbeEnd) moment(_ *folder) Moment {
	m := Moment{Step: b.Step, Text: because(b.Step+" "+b.Outcome, b.Summary)}
	if b.Outcome != "ok" {
		m.Level = "warning"
	}
	for _, x := range b.Findings {
		if x.Level == record.Critical || (x.Level == record.Warning && m.Level == "") {
			m.Level = string(x.Level)
		}
	}
	return m
}

// forgotten is what a failed attempt leaves of the facts: that they are
// unknown, and why. A value inside it is not trusted either.
func forgotten(old map[string]Value, b ProbeEnd) map[string]Value {
	out := make(map[string]Value, len(old)+len(b.Facts))
	for _, facts := range []map[string]Value{old, b.Facts} {
		for name, v := range facts {
			why := v.Why()
			if v.Known() {
				why = b.Outcome
			}
			out[name] = record.Unknown(v.Type(), why)
		}
	}
	return out
}

// changedFacts names, in order, the facts that differ between two attempts.
// Being unknown for another reason is no difference.
func changedFacts(old, fresh map[string]Value) []string {
	var out []string
	for name, v := range fresh {
		if !sameValue(old[name], v) {
			out = append(out, name)
		}
	}
	for name, v := range old {
		if _, ok := fresh[name]; !ok && v.Known() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Answer is a person's answer to an ask; the value "unknown" is unknown.
type Answer struct {
	Step  string `json:"step"`
	Value string `json:"value"`
	How   string `json:"how,omitempty"`
	// Proposed is what the facts said to the question when it was answered, "" for
	// nothing.
	Proposed string `json:"proposed,omitempty"`
	// Script says that an answers file said so, and no person at the keyboard.
	Script bool `json:"script,omitempty"`
}

// Type implements [Body].
func (Answer) Type() string { return "answer" }

func (b Answer) fold(f *folder) error {
	i, err := f.current(b.Step, AskStep)
	if err != nil {
		return err
	}
	old := f.s.Steps[i]
	if blank(b.Value) || (b.Value != Unknown && len(old.Answers) > 0 && !slices.Contains(old.Answers, b.Value)) {
		return f.refuse("%q is not an answer to %q", b.Value, b.Step)
	}
	st := f.step(i)
	st.Answer, st.How, st.Script, st.Proposed = b.Value, b.How, b.Script, b.Proposed
	if b.Value == Unknown {
		f.settled(st, CannotTell)
	} else {
		f.settled(st, Settled)
	}
	if denies(st) && b.Value != Unknown {
		f.s.Return, f.s.ReturnWhy = Compare, b.Step+" is answered "+b.Value
	}
	if i := f.s.gap(b.Step); f.s.Kind == Readiness && Gapless(st.Holds()) && i >= 0 {
		if !f.own.debts {
			f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
		}
		f.s.Debts[i].Settled = Settle{Debt: f.s.Debts[i].ID, How: "paid", Proof: "answered " + b.Value + ": " + b.How}
	}
	if old.Answer != b.Value {
		f.changed(b.Step, "the answer to "+b.Step+" changed to "+b.Value)
	}
	return nil
}

func (b Answer) moment(_ *folder) Moment {
	what := b.Step + " answered " + b.Value
	if b.Proposed != "" && b.Proposed != Unknown && b.Proposed != b.Value {
		what += " (the facts propose " + b.Proposed + ")"
	}
	return Moment{Step: b.Step, Text: because(what, b.How)}
}

// Manual records something done outside, with its named proof.
type Manual struct {
	Step  string `json:"step"`
	Proof string `json:"proof"`
	// Gives says which of the items that the step covers the proof names, each by its
	// own value. It is nil in journals from before a proof said so: there it gives all.
	Gives []Given `json:"gives"`
}

// Type implements [Body].
func (Manual) Type() string { return "manual" }

func (b Manual) fold(f *folder) error {
	i, err := f.current(b.Step, ManualStep)
	if err != nil {
		return err
	}
	if blank(b.Proof) {
		return f.refuse("step %q needs its proof", b.Step)
	}
	st := f.step(i)
	again := st.Status == Settled
	st.Summary, st.Gives = b.Proof, b.Gives
	f.settled(st, Settled)
	if !again {
		f.changed(b.Step, b.Step+" was done")
	}
	return nil
}

func (b Manual) moment(_ *folder) Moment {
	return Moment{Step: b.Step, Text: because(b.Step+" done", b.Proof)}
}

// Skip passes over a step.
type Skip struct {
	Step string `json:"step"`
	Why  string `json:"why"`
}

// Type implements [Body].
func (Skip) Type() string { return "skip" }

func (b Skip) fold(f *folder) error {
	i, err := f.current(b.Step, ProbeStep, AskStep, ManualStep, CompareStep, ConcludeStep, GateStep, WatchStep, NoteStep)
	if err != nil {
		return err
	}
	if rs := skipLaws(&f.s, &f.s.Steps[i]); len(rs) > 0 {
		return f.unlawful(rs)
	}
	if blank(b.Why) {
		return f.refuse("skipping %q needs a reason", b.Step)
	}
	st := f.step(i)
	st.How = b.Why
	f.settled(st, Skipped)
	return nil
}

func (b Skip) moment(_ *folder) Moment {
	return Moment{Step: b.Step, Text: because(b.Step+" skipped", b.Why)}
}
