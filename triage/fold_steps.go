package triage

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Events of steps that read or ask.

func (f *folder) probeStart(b ProbeStart) error {
	i, err := f.current(b.Step, ProbeStep, CompareStep, WatchStep)
	if err != nil {
		return err
	}
	if b.N <= f.s.Steps[i].Attempts {
		return f.refuse("attempt %d of %q does not come after %d", b.N, b.Step, f.s.Steps[i].Attempts)
	}
	// A step that is still running lost its end in a crash; the new attempt wins.
	st := f.step(i)
	st.Status, st.Attempts, st.Started, st.StartSeq = Running, b.N, f.e.At, f.e.Seq
	return nil
}

func (f *folder) probeEnd(b ProbeEnd) error {
	i := f.find(b.Step)
	switch {
	case i < 0:
		return f.refuse("the plan has no step %q", b.Step)
	case f.s.Steps[i].Status != Running || f.s.Steps[i].Attempts != b.N:
		return f.refuse("attempt %d of %q is not running", b.N, b.Step)
	case !slices.Contains([]string{"ok", "failed", "denied", "timeout", "cancelled"}, b.Outcome):
		return f.refuse("%q is no outcome of a probe", b.Outcome)
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
	st.Facts, st.Findings, st.Gaps, st.Rows = facts, found(st.Findings, b), b.Gaps, b.Rows
	st.Overruled = stillOverruled(st.Overruled, st.Findings)
	switch {
	case st.Kind == WatchStep:
		f.sample(st, b)
	case b.Outcome == "ok":
		f.settled(st, Settled)
	default:
		f.settled(st, CannotTell)
	}
	if len(changed) > 0 {
		f.changed(st.ID, "facts of "+st.ID+" changed: "+strings.Join(changed, ", "))
	}
	return nil
}

// forgotten is what a failed attempt leaves of the facts: that they are
// unknown, and why. A value inside it is not trusted either.
func forgotten(old map[string]Value, b ProbeEnd) map[string]Value {
	out := make(map[string]Value, len(old)+len(b.Facts))
	for _, facts := range []map[string]Value{old, b.Facts} {
		for name, v := range facts {
			why := v.Unknown
			if v.Known() || why == "" {
				why = b.Outcome
			}
			out[name] = Value{T: v.T, Unknown: why}
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

// sameValue reports whether two values mean the same, however they are spelt.
func sameValue(a, b Value) bool {
	if !a.Known() || !b.Known() {
		return a.Known() == b.Known()
	}
	if a.T != b.T {
		return false
	}
	return bytes.Equal(a.V, b.V) || reflect.DeepEqual(decoded(a.V), decoded(b.V))
}

func decoded(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	return v
}

func (f *folder) answer(b Answer) error {
	i, err := f.current(b.Step, AskStep)
	if err != nil {
		return err
	}
	old := f.s.Steps[i]
	if blank(b.Value) || (b.Value != Unknown && len(old.Answers) > 0 && !slices.Contains(old.Answers, b.Value)) {
		return f.refuse("%q is not an answer to %q", b.Value, b.Step)
	}
	st := f.step(i)
	st.Answer, st.How, st.Script = b.Value, b.How, b.Script
	if b.Value == Unknown {
		f.settled(st, CannotTell)
	} else {
		f.settled(st, Settled)
	}
	if denies(st) && b.Value != Unknown {
		f.s.Return, f.s.ReturnWhy = Compare, b.Step+" is answered "+b.Value
	}
	if old.Answer != b.Value {
		f.changed(b.Step, "the answer to "+b.Step+" changed to "+b.Value)
	}
	return nil
}

func (f *folder) manual(b Manual) error {
	i, err := f.current(b.Step, ManualStep)
	if err != nil {
		return err
	}
	if blank(b.Proof) {
		return f.refuse("step %q needs its proof", b.Step)
	}
	st := f.step(i)
	again := st.Status == Settled
	st.Summary = b.Proof
	f.settled(st, Settled)
	if !again {
		f.changed(b.Step, b.Step+" was done")
	}
	return nil
}

func (f *folder) skip(b Skip) error {
	i, err := f.current(b.Step, ProbeStep, AskStep, ManualStep, CompareStep, ConcludeStep, GateStep, WatchStep, NoteStep)
	if err != nil {
		return err
	}
	if rs := skipLaws(&f.s, &f.s.Steps[i]); len(rs) > 0 {
		return f.unlawful(rs)
	}
	if blank(b.Why) {
		return f.refuse("passing over %q needs a reason", b.Step)
	}
	st := f.step(i)
	st.How = b.Why
	f.settled(st, Skipped)
	return nil
}

// stale marks the facts and answers of steps as no longer true of their target.
func (f *folder) stale(ids []string, why string) {
	for _, id := range ids {
		i := f.find(id)
		if i < 0 {
			continue
		}
		if st := f.s.Steps[i]; st.Status == Settled || st.Status == CannotTell {
			*f.step(i) = outdated(st)
			f.changed(id, why)
		}
	}
}

// propose offers to go back to compare, since what was found there may no
// longer hold. Nobody knows then whether the states agree, until somebody says
// so again.
func (f *folder) propose(why string) {
	f.s.Return, f.s.ReturnWhy = Compare, why
	if c, ok := f.s.Topics[TopicConsistent]; ok && c.Value != Unknown {
		f.setTopic(Conclusion{Topic: TopicConsistent, Value: Unknown, Lapsed: true, Why: why, Seq: f.e.Seq, At: f.e.At})
	}
	for i := range f.s.Steps {
		st := f.s.Steps[i]
		about := st.Kind == CompareStep || (st.Kind == ConcludeStep && Topic(st.Uses) == TopicConsistent)
		if about && !st.Retired && st.Status == Settled {
			*f.step(i) = outdated(st)
			f.changed(st.ID, why)
		}
	}
}
