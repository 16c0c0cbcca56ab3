package triage

import (
	"slices"
	"strconv"
	"time"
)

// recommend marks the first wanted thing that is available. What does not apply by
// its own condition is passed over: asking it would have people answer what nothing
// needs, and reading it is refused. A gate that applies and stays shut is passed only
// by a word: the verification of an act that did not happen would prove nothing, and what
// was paused for it would go on before it.
func recommend(s *State, options []Option, now time.Time, judge func(step string) []Verdict) {
	var held []string
	for _, w := range wants(s, judge) {
		if len(held) > 0 && past(s, w, held, judge) && (askAgain(s, held[0], options) || doubted(s, held[0], options) || lookBehind(s, held[0], options, judge) || giveAnew(s, held[0], options) || overtaken(s, held[0], options, judge) || mark(options, want{kind: DoSkip, step: held[0]})) {
			return
		}
		if (w.kind == DoAnswer || w.kind == DoProbe || w.kind == DoManual) && idle(s, w, judge) {
			continue
		}
		if w.kind == DoProbe && early(s, w.step) {
			return
		}
		gate := w.kind == DoPreview && s.Gates[w.step].Phase != GateUnknown
		if gate && refusedSince(s, w.step, now) {
			held = append(held, w.step)
			continue
		}
		for i := range options {
			o := &options[i]
			switch {
			case !w.is(o):
			case o.Available():
				if st, ok := s.Step(o.Step); ok && gate {
					if other := preferredBy(s, &st, options); other != "" && mark(options, want{kind: DoPreview, step: other}) {
						return
					}
				}
				o.Recommended = true
				return
			case len(o.Stale) > 0 && renew(o.Stale, options):
				return
			case raced(o) && lookAgain(s, options):
				return
			case blind(o) && mark(options, want{kind: DoDrift}):
				return
			case gate && mark(options, want{kind: DoPlan, step: w.step}):
				return
			case gate && !aside(w.step, judge):
				held = append(held, w.step)
			}
		}
	}
}

// early reports whether a watch stands on what is being read: its sample would be unknown, and
// undo what was concluded. There is nothing to do but wait.
func early(s *State, id string) bool {
	st, ok := s.Step(id)
	return ok && st.Kind == WatchStep && slices.ContainsFunc(st.Refs, func(ref string) bool {
		x, ok := s.Step(ref)
		return ok && x.Kind == ProbeStep && x.Status == Running
	})
}

// refusedSince reports whether a gate was refused at its preview and nothing that it
// stands on was learned since or given otherwise, nor has what only takes time come about: it
// would be refused again.
func refusedSince(s *State, id string, now time.Time) bool {
	g := s.Gates[id]
	if !g.WasRefused || !g.Opens.IsZero() && !now.Before(g.Opens) {
		return false
	}
	st, _ := s.Step(id)
	if st.Moved > g.ClosedSeq {
		return false
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		if x.EndSeq > g.ClosedSeq && (x.Kind == GateStep || slices.Contains(st.Refs, x.ID)) {
			return false
		}
	}
	for _, w := range s.Waivers {
		if w.Seq > g.ClosedSeq {
			return false
		}
	}
	return true
}

// blind reports whether nothing but open questions about the difference keeps a gate shut.
func blind(o *Option) bool {
	return o.Kind == DoPreview && len(o.Refusals) > 0 && !slices.ContainsFunc(o.Refusals, func(r Refusal) bool { return r.Law != 13 })
}

// wants lists what the state still lacks, the most pressing first: an act in
// doubt, an open preview, then the phases in the order of the loop, then
// provisional conclusions, debts, findings that an act may have dealt with, and the
// close: as open where it is not recovered.
func wants(s *State, judge func(step string) []Verdict) []want {
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
		out = append(out, phaseWants(s, p, judge)...)
	}
	for _, t := range s.asked() {
		c, ok := s.Topics[t]
		if c.Provisional || t == TopicClass && c.Value == Unknown || t == TopicConsistent && (!ok || c.Value == Unknown) {
			w := want{kind: DoConclude, topic: t}
			out = append(append(out, anew(s, w, judge)...), w)
		}
	}
	for _, d := range s.Debts {
		if d.Settled.How != "" {
			continue
		}
		if unread(s, d) {
			out = append(out, want{kind: DoProbe, step: d.Of})
		}
		out = append(out, want{kind: DoSettle, subject: d.ID})
	}
	for _, id := range outread(s, judge) {
		out = append(out, want{kind: DoProbe, step: id})
	}
	out = append(out, tellingWants(s, judge)...)
	out = append(out, want{kind: DoClose, value: s.Ends()})
	if len(s.Rereads) == 0 { // else waiting is what is left
		out = append(out, want{kind: DoClose, value: "open"})
	}
	return out
}

// asked are the topics that an incident is not closed without. A review has none.
func (s *State) asked() []Topic {
	if s.Kind == Readiness {
		return nil
	}
	return []Topic{TopicMutation, TopicConsistent, TopicClass}
}

// tellingWants are the answers that critical findings lack, once nothing else is in the
// way of the close as recovered.
func tellingWants(s *State, judge func(step string) []Verdict) []want {
	if s.Kind == Readiness {
		return nil
	}
	tells := len(tellingLaws(s))
	if tells == 0 || len(closeLaws(s, "recovered")) > 0 || len(recoveryLaws(s, judge)) > tells {
		return nil
	}
	var out []want
	for i := range s.Steps {
		for _, f := range untold(s, &s.Steps[i]) {
			out = append(out, want{kind: DoResolve, step: s.Steps[i].ID, subject: f.Say})
		}
	}
	return out
}

// unread reports whether the proof of a repair by hand is still to be read. One read
// that failed is enough: then a person carries it.
func unread(s *State, d Debt) bool {
	st, ok := s.Step(d.Of)
	if !ok || st.Retired || s.proofLacks(d) == "" {
		return false
	}
	return st.StartSeq <= d.Seq || st.Kind == WatchStep || st.Outcome == "cancelled"
}

// phaseWants lists what one phase lacks. Up to classify the order is light
// probes, heavy probes, then what people say of them; from authority on it is
// the order of the plan, since an act stands between what comes before and
// after it.
func phaseWants(s *State, p Phase, judge func(step string) []Verdict) []want {
	var light, heavy, rest []want
	early := classifies(p)
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Phase != p || st.Retired {
			continue
		}
		w, ok := stepWant(s, st, judge)
		if !ok && called(st, judge) {
			w, ok = want{kind: DoProbe, step: st.ID}, true
			if st.Kind == ManualStep {
				w.kind = DoManual
			}
		}
		switch {
		case !ok:
		case st.Kind == CompareStep: // it may set what people say beside what was read
			rest = append(append(rest, anew(s, w, judge)...), w)
		case w.kind == DoProbe && early && st.Heavy:
			heavy = append(heavy, w)
		case w.kind == DoProbe && early:
			light = append(light, w)
		default:
			rest = append(append(rest, anew(s, w, judge)...), w)
		}
	}
	out := slices.Concat(light, heavy, rest)
	if s.Kind == Readiness {
		return out
	}
	// The two questions that every gate asks come up even in a plan without them.
	if c, ok := s.Topics[TopicMutation]; (!ok || c.Lapsed) && p == Mutation {
		out = append(out, want{kind: DoConclude, topic: TopicMutation})
	}
	if c, ok := s.Topics[TopicClass]; (!ok || c.Lapsed) && p == Classify {
		out = append(out, want{kind: DoConclude, topic: TopicClass})
	}
	return out
}

// called reports whether a read or a step by hand that nothing stands on is wanted all the
// same: after the evidence is kept its author said when, and that is so. What it finds or
// does may keep a gate or the close shut, so it is not for a person to think of it.
func called(st *Step, judge func(step string) []Verdict) bool {
	return (st.Kind == ProbeStep || st.Kind == ManualStep) && st.Status == Pending && !slices.Contains([]Phase{Preserve, Locate}, st.Phase) && applies(st.ID, judge)
}

// stepWant is what a step lacks, and whether it lacks anything that matters.
func stepWant(s *State, st *Step, judge func(step string) []Verdict) (want, bool) {
	// A read that was cut off, by a person or by a crash, was not tried.
	cut := st.Status == CannotTell && st.Outcome == "cancelled"
	fresh := st.Status == Pending || st.Status == Stale || cut
	if isCapture(st) || isProof(st) {
		law := 1
		if isProof(st) {
			law = 8
		}
		if st.Status == Settled || waived(s, law, st.ID) || isCapture(st) && removed(s, st) {
			return want{}, false
		}
		// What was tried twice, or cannot be answered, is worth a waiver, unless what it stands on was learned anew.
		if st.Status == CannotTell && st.Kind != WatchStep && (st.Attempts >= 2 && !cut && !standsOnNewer(s, st) || st.Kind == AskStep) {
			return want{kind: DoWaive, step: st.ID, value: strconv.Itoa(law)}, true
		}
		fresh = true
	}
	switch st.Kind {
	case WatchStep, ProbeStep, CompareStep:
		matters := st.Required || s.Kind == Readiness || st.Kind == CompareStep || isProof(st) || referenced(s, st.ID)
		return want{kind: DoProbe, step: st.ID}, fresh && matters && st.Status != Running
	case AskStep:
		return want{kind: DoAnswer, step: st.ID}, fresh
	case ManualStep:
		return want{kind: DoManual, step: st.ID}, fresh && (st.Required || referenced(s, st.ID))
	case ConcludeStep:
		return want{kind: DoConclude, step: st.ID}, fresh
	case GateStep:
		return want{kind: DoPreview, step: st.ID}, gateWanted(s, st, judge)
	}
	return want{}, false
}

// standsOnNewer reports whether something that a step stands on was learned after the step itself.
func standsOnNewer(s *State, st *Step) bool {
	return slices.ContainsFunc(st.Refs, func(id string) bool {
		x, ok := s.Step(id)
		return ok && !x.Retired && x.EndSeq > st.EndSeq
	})
}

// referenced reports whether a condition of the plan in force uses a step.
func referenced(s *State, id string) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return !st.Retired && st.ID != id && slices.Contains(st.Refs, id) })
}

// onSheet numbers what a person can say on one sheet: the recommended word, and those wanted
// after it with nothing to be read between them. A word that depends on another of the sheet
// waits for that one, but a conclusion stands there too, where the facts propose it whatever
// that one says. What follows a conclusion that waits is asked only as far as it helps to
// classify: what is to be done comes after.
func onSheet(s *State, options []Option, judge func(step string) []Verdict) {
	first := slices.IndexFunc(options, func(o Option) bool { return o.Recommended })
	if s.Kind == Readiness || first < 0 || !isWord(options[first].Kind) || options[first].Step == "" {
		return
	}
	begun, waits, shut, n := false, false, false, 0
	var asked []string // what a person says on the sheet
	var topics []Topic // what is concluded on it
	for _, w := range wants(s, judge) {
		if !begun {
			if w.kind == DoPreview && !aside(w.step, judge) {
				return // a gate that is held: what is recommended is for it alone
			}
			if begun = w.is(&options[first]); !begun {
				continue
			}
		}
		if (w.kind == DoAnswer || w.kind == DoProbe || w.kind == DoManual) && idle(s, w, judge) || w.kind == DoPreview && aside(w.step, judge) {
			continue
		}
		if !isWord(w.kind) {
			if !shut {
				follow(s, options, w, waits)
			}
			return
		}
		if w.step == "" && slices.Contains(topics, w.topic) { // what every gate asks, and a step of the plan concludes
			continue
		}
		st, ok := s.Step(w.step)
		i := slices.IndexFunc(options, func(o Option) bool { return w.is(&o) })
		if !ok || i < 0 || !options[i].Available() {
			if w.kind == DoConclude {
				waits, shut = true, true
			}
			continue
		}
		depends := slices.ContainsFunc(st.Refs, func(id string) bool { return slices.Contains(asked, id) })
		switch {
		case w.kind == DoConclude && (depends || waits):
			waits, options[i].Leans = true, true
			topics = append(topics, Topic(st.Uses))
		case depends:
			continue
		case waits && (w.kind == DoManual || !classifies(st.Phase)):
			return
		case w.kind == DoConclude:
			topics = append(topics, Topic(st.Uses))
		default:
			asked = append(asked, st.ID)
		}
		n++
		options[i].Sheet = n
	}
}

// follow marks the heavy read that comes after the words of the sheet: the key that says them
// may name it, and so begin it. It leans where a conclusion does that comes before it.
func follow(s *State, options []Option, w want, leans bool) {
	st, ok := s.Step(w.step)
	if w.kind != DoProbe || !ok || !st.Heavy || st.Kind != ProbeStep || st.Attempts > 0 {
		return
	}
	for i := range options {
		if o := &options[i]; w.is(o) && o.Available() {
			o.Follows, o.Leans = true, leans
			return
		}
	}
}

// isWord reports whether a person says what is wanted, and nothing is read or changed.
func isWord(k IntentKind) bool { return k == DoAnswer || k == DoManual || k == DoConclude }
