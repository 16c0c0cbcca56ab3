package triage

import (
	"slices"
	"strconv"
)

// want is something that the loop would have done next.
type want struct {
	kind    IntentKind
	step    string
	topic   Topic
	subject string
	value   string
}

// recommend marks the first wanted thing that is available. A question whose own
// condition does not hold is passed over: asking it would have people answer what
// nobody needs to know.
func recommend(s *State, options []Option, judge func(step string) []Verdict) {
	for _, w := range wants(s) {
		if w.kind == DoAnswer && idle(s, w.step, judge) {
			continue
		}
		for i := range options {
			o := &options[i]
			switch {
			case !w.is(o):
			case o.Available():
				o.Recommended = true
				return
			case len(o.Stale) > 0 && renew(o.Stale, options):
				return
			case raced(o) && lookAgain(s, options):
				return
			}
		}
	}
}

// raced reports whether nothing but a writer that reverts every fix keeps a gate
// shut, or the incident from being closed.
func raced(o *Option) bool {
	return (o.Kind == DoPreview || o.Kind == DoClose) && len(o.Refusals) > 0 &&
		!slices.ContainsFunc(o.Refusals, func(r Refusal) bool { return r.Law != 12 })
}

// lookAgain marks what is read once more before it is said anew whether something
// reverts every fix, and then the question itself: the loop stays with the writer.
// Going past the repair would end at a close with nothing repaired.
func lookAgain(s *State, options []Option) bool {
	if s.Topics[TopicReverts].Value != "yes" {
		return false
	}
	said := s.Topics[TopicReverts].Seq
	mark := func(is func(o *Option) bool) bool {
		i := slices.IndexFunc(options, func(o Option) bool { return is(&o) && o.Available() })
		if i >= 0 {
			options[i].Recommended = true
		}
		return i >= 0
	}
	for _, st := range s.Steps {
		if st.Kind != ConcludeStep || st.Uses != string(TopicReverts) || st.Retired {
			continue
		}
		for _, x := range s.Steps {
			old := slices.Contains(st.Refs, x.ID) && x.EndSeq > 0 && x.EndSeq < said && x.Status != Skipped
			if old && mark(func(o *Option) bool { return o.Kind == DoProbe && o.Step == x.ID }) {
				return true
			}
		}
	}
	return mark(func(o *Option) bool { return o.Kind == DoConclude && o.Topic == TopicReverts })
}

// renew marks the first read or answer that only grew too old. Passing over the
// gate that waits for it would go on as if the gate had acted.
func renew(stale []string, options []Option) bool {
	for _, id := range stale {
		for i := range options {
			if o := &options[i]; o.Step == id && (o.Kind == DoProbe || o.Kind == DoAnswer) && o.Available() {
				o.Recommended = true
				return true
			}
		}
	}
	return false
}

// idle reports whether a question need not be asked: it is not required, and its
// condition is known not to hold.
func idle(s *State, step string, judge func(step string) []Verdict) bool {
	if st, ok := s.Step(step); !ok || st.Required || judge == nil {
		return false
	}
	return slices.ContainsFunc(judge(step), func(v Verdict) bool { return v.Result == "false" })
}

func (w want) is(o *Option) bool {
	return o.Kind == w.kind && (w.step == "" || o.Step == w.step) && (w.topic == "" || o.Topic == w.topic) &&
		(w.subject == "" || o.Subject == w.subject) && (w.value == "" || o.Value == w.value)
}

// wants lists what the state still lacks, the most pressing first: an act in
// doubt, an open preview, then the phases in the order of the loop, then
// provisional conclusions, debts and the close.
func wants(s *State) []want {
	if s.Acting != "" {
		return nil
	}
	if id := s.Unresolved(); id != "" {
		return []want{{kind: DoPreview, step: id}}
	}
	var out []want
	if id := armedGate(s); id != "" {
		out = append(out, want{kind: DoConfirm, step: id}, want{kind: DoApprove, step: id})
	}
	if len(s.Undone()) > 0 {
		out = append(out, want{kind: DoConclude, topic: TopicReverts})
	}
	for _, p := range Phases() {
		out = append(out, phaseWants(s, p)...)
	}
	for _, t := range []Topic{TopicMutation, TopicClass} {
		if c := s.Topics[t]; c.Provisional || (t == TopicClass && c.Value == Unknown) {
			out = append(out, want{kind: DoConclude, topic: t})
		}
	}
	for _, d := range s.Debts {
		if d.Settled.How == "" {
			out = append(out, want{kind: DoSettle, subject: d.ID})
		}
	}
	return append(out, want{kind: DoClose, value: "recovered"})
}

// phaseWants lists what one phase lacks. Up to classify the order is light
// probes, heavy probes, then what people say of them; from authority on it is
// the order of the plan, since an act stands between what comes before and
// after it.
func phaseWants(s *State, p Phase) []want {
	var light, heavy, rest []want
	early := slices.Index(Phases(), p) <= slices.Index(Phases(), Classify)
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Phase != p || st.Retired {
			continue
		}
		w, ok := stepWant(s, st)
		switch {
		case !ok:
		case st.Kind == CompareStep: // it may set what people say beside what was read
			rest = append(rest, w)
		case w.kind == DoProbe && early && st.Heavy:
			heavy = append(heavy, w)
		case w.kind == DoProbe && early:
			light = append(light, w)
		default:
			rest = append(rest, w)
		}
	}
	out := slices.Concat(light, heavy, rest)
	// The two questions that every gate asks come up even in a plan without them.
	if _, ok := s.Topics[TopicMutation]; !ok && p == Mutation {
		out = append(out, want{kind: DoConclude, topic: TopicMutation})
	}
	if _, ok := s.Topics[TopicClass]; !ok && p == Classify {
		out = append(out, want{kind: DoConclude, topic: TopicClass})
	}
	return out
}

// stepWant is what a step lacks, and whether it lacks anything that matters.
func stepWant(s *State, st *Step) (want, bool) {
	// A read that was cut off, by a person or by a crash, was not tried.
	cut := st.Status == CannotTell && st.Outcome == "cancelled"
	fresh := st.Status == Pending || st.Status == Stale || cut
	if isCapture(st) || isProof(st) {
		law := 1
		if isProof(st) {
			law = 8
		}
		if st.Status == Settled || waived(s, law, st.ID) {
			return want{}, false
		}
		// What was tried twice, or what nobody can answer, is worth a waiver.
		if st.Status == CannotTell && st.Kind != WatchStep && (st.Attempts >= 2 && !cut || st.Kind == AskStep) {
			return want{kind: DoWaive, step: st.ID, value: strconv.Itoa(law)}, true
		}
		fresh = true
	}
	switch st.Kind {
	case WatchStep, ProbeStep, CompareStep:
		matters := st.Required || st.Kind == CompareStep || isProof(st) || referenced(s, st.ID)
		return want{kind: DoProbe, step: st.ID}, fresh && matters && st.Status != Running
	case AskStep:
		return want{kind: DoAnswer, step: st.ID}, fresh
	case ManualStep:
		return want{kind: DoManual, step: st.ID}, fresh && (st.Required || referenced(s, st.ID))
	case ConcludeStep:
		return want{kind: DoConclude, step: st.ID}, fresh
	case GateStep:
		return want{kind: DoPreview, step: st.ID}, gateWanted(s, st)
	}
	return want{}, false
}

// referenced reports whether a condition of the plan in force uses a step.
func referenced(s *State, id string) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return !st.Retired && st.ID != id && slices.Contains(st.Refs, id) })
}

// gateWanted reports whether the loop would open a gate next: one that was not
// used or passed over, and of the containing ones only while none is done.
func gateWanted(s *State, st *Step) bool {
	g := s.Gates[st.ID]
	// An act that was cut off and is found not to have happened is still to do.
	// So is one that somebody undid, once its writer was found.
	undone := g.Phase == GateFailed && g.Found || g.Phase == GateDone && g.Again.Outcome == Undone
	if st.Status == Skipped || (g.Phase != GateIdle && g.Phase != GateRefused && g.Phase != GateArmed && !undone) {
		return false
	}
	if st.Class != Contain {
		return true
	}
	// The narrowest comes first in the plan; another of its kind is no wider.
	for _, p := range s.Plan().Steps {
		if p.Kind == GateStep && p.Class == Contain {
			return p.ID == st.ID || p.Uses != "" && p.Uses == st.Uses
		}
	}
	return false
}
