package triage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// FoldError says that an event cannot follow the state it was folded onto: the
// journal breaks the protocol or a law. Law is 0 where no law is the reason.
type FoldError struct {
	Seq  int64
	Type string
	Why  string
	Law  int
}

func (e *FoldError) Error() string {
	return fmt.Sprintf("entry %d (%s) does not follow: %s", e.Seq, e.Type, e.Why)
}

// Fold gives the state after e. It never changes what s refers to, so a state
// may be kept, shared between goroutines and folded onto more than once. On an
// error, a *[FoldError], it returns s. The payload of e must not change later.
func Fold(s State, e Event) (State, error) {
	f := folder{s: s}
	if err := f.apply(e); err != nil {
		return s, err
	}
	return f.s, nil
}

// Follows returns the error that Fold would, without folding: the fold that comes
// after it can still add to the timeline in place, and need not copy it.
func Follows(s State, e Event) error {
	s.Timeline, s.log = nil, nil // no event depends on them
	_, err := Fold(s, e)
	return err
}

// FoldAll folds events in order and copies what it changes only once, which
// makes it the faster way to read a long journal. On an error it returns the
// state before the event that did not fold.
func FoldAll(s State, events []Event) (State, error) {
	f := folder{s: s}
	for _, e := range events {
		if err := f.apply(e); err != nil {
			return f.s, err
		}
	}
	return f.s, nil
}

// folder is a state while events are folded onto it. What own names is the
// folder's own copy and may be written; all else belongs to a State that was handed out.
//
// Each event is checked whole before anything of it is written, so that an
// event that is refused leaves no trace.
type folder struct {
	s        State
	e        Event
	own      struct{ steps, topics, gates, people, debts, waivers, walk bool }
	disarmed []string // what this event disarmed and why, for the timeline
}

func (f *folder) apply(e Event) error {
	f.e, f.disarmed = e, nil
	fresh := f.s.Seq == 0 && f.s.Updated.IsZero()
	if e.Seq < 0 || (!fresh && e.Seq <= f.s.Seq) {
		return f.refuse("its number does not come after %d", f.s.Seq)
	}
	if e.Body != nil {
		if err := f.allowed(); err != nil {
			return err
		}
		if err := f.dispatch(); err != nil {
			return err
		}
		f.disarmUnlawful()
	}
	f.s.Seq, f.s.Updated = e.Seq, e.At
	if e.Body != nil {
		f.record()
	}
	return nil
}

// allowed refuses what no event may do whatever it says: come before open, or
// after close.
func (f *folder) allowed() error {
	_, opens := f.e.Body.(Open)
	switch {
	case f.s.Incident == "" && !opens:
		return f.refuse("the incident is not open")
	case f.s.Incident != "" && opens:
		return f.refuse("the incident is already open as %q", f.s.Incident)
	case f.s.Outcome == "":
		return nil
	}
	switch b := f.e.Body.(type) {
	case Note, Correct:
		return nil
	case Settle:
		if i := f.debt(b.Debt); i >= 0 && f.s.Debts[i].Settled.How == "carried" {
			return nil
		}
	}
	return f.refuse("the incident is closed as %s", f.s.Outcome)
}

func (f *folder) dispatch() error {
	if _, ok := eventOf(f.e.Body); !ok {
		return f.refuse("the loop knows no such event")
	}
	return f.e.Body.fold(f)
}

// refuse makes the error of the event at hand.
func (f *folder) refuse(format string, args ...any) error {
	return &FoldError{Seq: f.e.Seq, Type: typeOf(f.e.Body), Why: fmt.Sprintf(format, args...)}
}

// unlawful makes the error of an event that the loop refuses, from the first
// reason.
func (f *folder) unlawful(rs []Refusal) error {
	return &FoldError{Seq: f.e.Seq, Type: typeOf(f.e.Body), Why: rs[0].Why, Law: rs[0].Law}
}

// typeOf names the type of a payload. A payload that is not one of this
// package's values (a nil pointer, say) has a Go type only.
func typeOf(b Body) string {
	if b == nil {
		return "none"
	}
	e, ok := eventOf(b)
	if !ok {
		return fmt.Sprintf("%T", b)
	}
	return e.Type
}

// find returns the index of a step, -1 where there is none.
func (f *folder) find(id string) int {
	for i := range f.s.Steps {
		if f.s.Steps[i].ID == id {
			return i
		}
	}
	return -1
}

// current returns the index of a step of the plan in force that is of one of
// the kinds.
func (f *folder) current(id string, kinds ...StepKind) (int, error) {
	i := f.find(id)
	switch {
	case i < 0:
		return i, f.refuse("the plan has no step %q", id)
	case f.s.Steps[i].Retired:
		return i, f.refuse("step %q belongs to an earlier plan", id)
	case !slices.Contains(kinds, f.s.Steps[i].Kind):
		return i, f.refuse("step %q is a %s", id, f.s.Steps[i].Kind)
	}
	return i, nil
}

// step returns step i to write to.
func (f *folder) step(i int) *Step {
	if !f.own.steps {
		f.s.Steps, f.own.steps = slices.Clone(f.s.Steps), true
	}
	return &f.s.Steps[i]
}

// setGate replaces what is known of a gate.
func (f *folder) setGate(g GateState) {
	if !f.own.gates {
		f.s.Gates, f.own.gates = maps.Clone(f.s.Gates), true
	}
	if f.s.Gates == nil {
		f.s.Gates = map[string]GateState{}
	}
	f.s.Gates[g.Step] = g
}

// setTopic replaces a conclusion.
func (f *folder) setTopic(c Conclusion) {
	if !f.own.topics {
		f.s.Topics, f.own.topics = maps.Clone(f.s.Topics), true
	}
	if f.s.Topics == nil {
		f.s.Topics = map[Topic]Conclusion{}
	}
	f.s.Topics[c.Topic] = c
}

// enter begins a stay in a phase.
func (f *folder) enter(to Phase, why string) {
	if !f.own.walk {
		f.s.Walk, f.own.walk = slices.Clone(f.s.Walk), true
	}
	back := slices.Index(Phases(), to) < slices.Index(Phases(), f.s.Phase)
	f.s.Walk = append(f.s.Walk, Stay{Phase: to, Seq: f.e.Seq, From: f.e.At, Why: why, Back: back})
	f.s.Phase = to
}

// settled notes when and by which entry a step came to a status.
func (f *folder) settled(st *Step, to Status) {
	st.Status, st.Ended, st.EndSeq = to, f.e.At, f.e.Seq
}

// blank reports whether a text that a person must give says nothing.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// duration reads a Go duration of a plan, or gives the default for "".
func duration(text string, otherwise time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("duration %q is negative", text)
	}
	return d, err
}

// debt returns the index of a debt, -1 where there is none.
func (f *folder) debt(id string) int {
	return slices.IndexFunc(f.s.Debts, func(d Debt) bool { return d.ID == id })
}

func (f *folder) addWaiver(b Waive) {
	if !f.own.waivers {
		f.s.Waivers, f.own.waivers = slices.Clone(f.s.Waivers), true
	}
	f.s.Waivers = append(f.s.Waivers, Waiver{Waive: b, Seq: f.e.Seq, Actor: f.e.Actor, At: f.e.At})
}
