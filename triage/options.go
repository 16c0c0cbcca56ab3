package triage

import (
	"slices"
	"strings"
	"time"
)

// Options lists the intents that a state knows of, in the order of the loop:
// each is available, or says everything that refuses it. At most one is
// recommended. judge gives the conditions of a gate or a question as they stand now;
// it is asked once for each gate of the plan in force, and without it gates that
// have conditions stay shut.
//
// Subject names the debt of a settle, the subject of a waive and the digest of
// an approve; Value is the outcome of a close, the phase of a phase and the
// number of the law of a waive.
func Options(s State, now time.Time, judge func(step string) []Verdict) []Option {
	switch {
	case s.Incident == "":
		return nil
	case s.Outcome != "":
		return closedOptions(&s)
	}
	judge = once(judge)
	l := lister{s: &s, now: now, judge: judge}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Retired {
			l.retired(st)
		} else {
			l.step(st)
		}
	}
	l.topics()
	l.waivers()
	l.debts()
	l.findings()
	l.call()
	for _, outcome := range []string{s.Ends(), "open", "aborted"} {
		rs := closeLaws(&s, outcome)
		if outcome == "recovered" {
			rs = append(rs, recoveryLaws(&s, judge)...)
		}
		l.add(Option{Kind: DoClose, Value: outcome}, rs...)
	}
	recommend(&s, l.out, now, judge)
	onSheet(&s, l.out, judge)
	return l.out
}

// once asks of each step only once: to judge is dear.
func once(judge func(step string) []Verdict) func(step string) []Verdict {
	if judge == nil {
		return nil
	}
	said := map[string][]Verdict{}
	return func(step string) []Verdict {
		v, ok := said[step]
		if !ok {
			v = judge(step)
			said[step] = v
		}
		return v
	}
}

type lister struct {
	s     *State
	now   time.Time
	judge func(step string) []Verdict
	out   []Option
}

func (l *lister) add(o Option, refusals ...Refusal) {
	o.Refusals = refusals
	l.out = append(l.out, o)
}

// closedOptions is what is left after the close: words, and carried debts.
func closedOptions(s *State) []Option {
	out := []Option{{Kind: DoNote}, {Kind: DoCorrect}}
	for _, d := range s.Debts {
		if d.Settled.How == "carried" {
			out = append(out, Option{Kind: DoSettle, Step: d.Of, Subject: d.ID})
		}
	}
	return out
}

func (l *lister) step(st *Step) {
	switch st.Kind {
	case ProbeStep, CompareStep, WatchStep:
		if st.Status == Running {
			l.add(Option{Kind: DoProbe, Step: st.ID}, Refusal{Why: st.ID + " is running", Cure: "Wait for it, or cancel it."})
			l.add(Option{Kind: DoCancel, Step: st.ID})
		} else {
			l.add(Option{Kind: DoProbe, Step: st.ID})
		}
	case AskStep:
		l.add(Option{Kind: DoAnswer, Step: st.ID, Value: st.Answer}, l.unread(st)...)
	case ManualStep:
		l.add(Option{Kind: DoManual, Step: st.ID}, l.unread(st)...)
	case ConcludeStep:
		t := Topic(st.Uses)
		l.add(Option{Kind: DoConclude, Step: st.ID, Topic: t, Value: l.s.Topics[t].Proposed})
	case GateStep:
		l.gate(st)
	}
	if st.Status != Settled && st.Status != Skipped && st.Status != Running {
		l.add(Option{Kind: DoSkip, Step: st.ID}, skipLaws(l.s, st)...)
	}
}

// unread says of a question, or of a step by hand, which of the things that it is about
// were not read. Its own condition is no such thing: where that is not known, a person
// may know.
func (l *lister) unread(st *Step) []Refusal {
	if l.judge == nil {
		return nil
	}
	var out []Refusal
	for _, v := range l.judge(st.ID) {
		if v.Unread {
			out = append(out, Refusal{Why: v.Why, Cure: "Read it first: " + strings.Join(v.Missing, ", ")})
		}
	}
	return out
}

// retired offers what an earlier plan left unfinished: a probe that still runs,
// and a gate whose act has no known end.
func (l *lister) retired(st *Step) {
	if st.Status == Running && st.Kind != GateStep {
		l.add(Option{Kind: DoCancel, Step: st.ID})
	}
	if st.Kind == GateStep && l.s.Gates[st.ID].Phase == GateUnknown {
		l.add(Option{Kind: DoPreview, Step: st.ID})
	}
}

func (l *lister) gate(st *Step) {
	g := l.s.Gates[st.ID]
	var verdicts []Verdict
	if l.judge != nil {
		verdicts = l.judge(st.ID)
	}
	shut := gateLaws(l.s, st)
	if l.s.worst() < l.s.Severity { // never asked of what a journal records: one from before knew only the present
		shut = append(shut, commandLaws(l.s, st.Class, l.s.worst())...)
	}
	shut = append(shut, blindLaws(l.s, st)...)
	shut = append(shut, scopeLaws(l.s, st, l.judge)...)
	shut = append(shut, verdictLaws(st, verdicts)...)
	if g.Phase == GateUnknown {
		// Reading the target again is the only way on, and changes nothing.
		l.add(Option{Kind: DoPreview, Step: st.ID})
	} else {
		apart := slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Aside && v.Result == "false" })
		l.add(Option{Kind: DoPreview, Step: st.ID, Stale: l.tooOld(st, verdicts, shut), Aside: apart}, shut...)
		if ungiven(shut) || g.WasRefused && len(g.Refuses) > 0 {
			l.add(Option{Kind: DoPlan, Step: st.ID, Value: runbookOf(st.ID)})
		}
	}
	l.add(Option{Kind: DoConfirm, Step: st.ID}, l.unconfirmable(st, g, shut)...)
	if g.Phase == GateArmed || g.Phase == GateConfirmed {
		l.add(Option{Kind: DoDisarm, Step: st.ID})
		if g.Shown.Second != nil {
			l.add(Option{Kind: DoApprove, Step: st.ID, Subject: g.Digest}, l.unapprovable(st, g)...)
		}
	}
	if g.Phase == GateActing {
		l.add(Option{Kind: DoInterrupt, Step: st.ID})
	}
}

// ungiven reports whether nothing but parameters that were not given keeps a gate shut.
func ungiven(shut []Refusal) bool {
	return len(shut) > 0 && !slices.ContainsFunc(shut, func(r Refusal) bool { return len(r.Params) == 0 })
}

// tooOld names the steps whose facts or answers are too old for the conditions of
// a gate, where nothing else keeps it shut.
func (l *lister) tooOld(st *Step, verdicts []Verdict, shut []Refusal) []string {
	var out []string
	for _, v := range verdicts {
		if v.Result == "true" {
			continue
		}
		if len(v.Aged) == 0 {
			return nil
		}
		shut = shut[:max(0, len(shut)-1)] // what it adds to what shuts the gate
		for _, aged := range v.Aged {
			if id := runbookOf(st.ID) + "/" + aged; !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	if len(shut) > l.against(st.ID, out) {
		return nil
	}
	return out
}

// against counts what these steps found against a gate: reading them again judges it
// anew.
func (l *lister) against(gate string, by []string) int {
	n := 0
	for i := range l.s.Steps {
		if x := &l.s.Steps[i]; slices.Contains(by, x.ID) {
			for _, f := range x.Speaking() {
				if slices.Contains(f.Against, gate) {
					n++
				}
			}
		}
	}
	return n
}

func (l *lister) unconfirmable(st *Step, g GateState, shut []Refusal) []Refusal {
	out := slices.Clone(shut)
	if g.Phase != GateArmed {
		return append(out, Refusal{Law: 5, Why: st.ID + " is not armed", Cure: "Open its preview first."})
	}
	if l.now.After(g.Shown.Until) {
		out = append(out, Refusal{Law: 5, Why: "the preview of " + st.ID + " has expired", Cure: "Open its preview again."})
	}
	out = append(out, ownerLaws(l.s, g)...)
	return append(out, secondLaws(l.s, g, l.now, l.s.Operator)...)
}

func (l *lister) unapprovable(st *Step, g GateState) []Refusal {
	if l.now.After(g.Shown.Until) {
		return []Refusal{{Law: 5, Why: "the preview of " + st.ID + " has expired", Cure: "Open its preview again, and send the new request."}}
	}
	return nil
}

// topics offers the conclusions that no step of the plan asks for.
func (l *lister) topics() {
	for _, t := range topics() {
		asked := slices.ContainsFunc(l.s.Steps, func(st Step) bool {
			return !st.Retired && st.Kind == ConcludeStep && Topic(st.Uses) == t
		})
		if !asked {
			l.add(Option{Kind: DoConclude, Topic: t, Value: l.s.Topics[t].Proposed})
		}
	}
}

func (l *lister) waivers() {
	for _, st := range l.s.OpenCaptures() {
		l.add(Option{Kind: DoWaive, Step: st.ID, Subject: st.ID, Value: "1"})
	}
	for _, st := range append(l.s.OpenProofs(), vagueProofs(l.s)...) {
		l.add(Option{Kind: DoWaive, Step: st.ID, Subject: st.ID, Value: "8"})
	}
	for i := range l.s.Steps {
		if st := &l.s.Steps[i]; len(st.Speaking()) > 0 {
			l.add(Option{Kind: DoWaive, Step: st.ID, Subject: st.ID, Value: "0"})
		}
	}
	for i := range l.s.Steps {
		g := l.s.Gates[l.s.Steps[i].ID]
		if g.Phase != GateArmed {
			continue
		}
		for _, o := range g.Shown.Owners {
			if o.Paused != "yes" && !waived(l.s, 12, o.Name, g.Step) {
				l.add(Option{Kind: DoWaive, Step: g.Step, Subject: o.Name, Value: "12"})
			}
		}
	}
}

func (l *lister) debts() {
	for _, d := range l.s.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			l.add(Option{Kind: DoSettle, Step: d.Of, Subject: d.ID})
		}
	}
}

// findings offers an answer to each critical finding that shuts no gate.
func (l *lister) findings() {
	for i := range l.s.Steps {
		st := &l.s.Steps[i]
		for _, f := range untold(l.s, st) {
			l.add(Option{Kind: DoResolve, Step: st.ID, Subject: f.Say})
		}
	}
}

// call offers what concerns the call itself.
func (l *lister) call() {
	for _, p := range Phases() {
		if p != l.s.Phase && (p == Declare || l.s.HasPhase(p)) {
			l.add(Option{Kind: DoPhase, Value: string(p)})
		}
	}
	for _, k := range []IntentKind{DoNote, DoCorrect, DoPerson, DoSeverity} {
		l.add(Option{Kind: k})
	}
	l.add(Option{Kind: DoHand}, handLaws(l.s)...)
	if len(l.s.Undrifted()) > 0 && l.writesRecord() {
		l.add(Option{Kind: DoDrift})
	}
	if g := l.s.Lowering; g.Phase == GateArmed {
		var late []Refusal
		if l.now.After(g.Shown.Until) {
			late = []Refusal{{Why: "the request for a lower severity has expired", Cure: "Set the severity again, and send the new request."}}
		}
		l.add(Option{Kind: DoApprove, Step: SeverityGate, Subject: g.Digest}, late...)
	}
	if l.s.Acting != "" {
		l.add(Option{Kind: DoPlan}, Refusal{Why: l.s.Acting + " is acting", Cure: "Wait until it has ended."})
	} else {
		l.add(Option{Kind: DoPlan})
	}
}

// writesRecord reports whether the plan in force has a gate that waits for what is known
// of the difference.
func (l *lister) writesRecord() bool {
	return slices.ContainsFunc(l.s.Steps, func(st Step) bool {
		return !st.Retired && st.Kind == GateStep && slices.Contains(RecordKinds(), st.Uses)
	})
}

// HasPhase reports whether the plan in force has anything to do in a phase. A
// phase without is passed over in silence.
func (s State) HasPhase(p Phase) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool { return !st.Retired && st.Phase == p })
}

// PhaseOf is the phase in which an option has its place.
func (s State) PhaseOf(o Option) Phase {
	if st, ok := s.Step(o.Step); ok && o.Kind != DoResolve {
		return st.Phase
	}
	switch {
	case o.Kind == DoConclude:
		return map[Topic]Phase{
			TopicDomain: Locate, TopicMutation: Mutation, TopicConsistent: Compare,
			TopicClass: Classify, TopicOwner: Authority, TopicReverts: Classify,
		}[o.Topic]
	case o.Kind == DoPhase:
		return Phase(o.Value)
	case o.Kind == DoClose || o.Kind == DoSettle || o.Kind == DoResolve:
		return Learn
	}
	return s.Phase
}
