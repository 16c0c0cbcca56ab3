package triage

import (
	"fmt"
	"slices"
	"strconv"
)

// Repairs by hand: what a person changes outside of handrail, with kubectl, tofu or a
// console. No gate stood before it, so what shows it is owed until it was read.

// HandAct is one repair by hand.
type HandAct struct {
	ID     string `json:"id"`              // of the debt that it leaves
	What   string `json:"what"`            // the command, or what was done in words
	Object string `json:"object"`          // what it was done to
	Person string `json:"person"`          // who did it
	Proof  string `json:"proof"`           // the probe or watch whose next read shows it
	Shows  string `json:"shows,omitempty"` // what that read shows where it worked
}

// Hand is a repair by hand as it was recorded.
type Hand struct {
	HandAct
	Seq   int64
	Actor string // at whose keyboard it was recorded
}

// ProofDebt is the kind of the debt that a repair by hand leaves.
const ProofDebt = "proof"

// Type implements [Body].
func (HandAct) Type() string { return "act.hand" }

// fold takes the repair for a target that moved: what was compared is open again, no
// green from before proves anything, and no gate that was shown before it stays armed.
func (b HandAct) fold(f *folder) error {
	switch {
	case blank(b.ID) || f.debt(b.ID) >= 0:
		return f.refuse("the repair by hand %q has no name of its own", b.ID)
	case blank(b.What):
		return f.refuse("it does not say what was done: give the command, or say it in words")
	case blank(b.Object):
		return f.refuse("it does not say to which object %q was done", b.What)
	case blank(b.Person):
		return f.refuse("it does not say who did it")
	}
	if _, err := f.current(b.Proof, ProbeStep, WatchStep); err != nil {
		return err
	}
	why := b.Person + " changed " + b.Object + " by hand"
	for _, id := range f.armed() {
		f.disarm(id, why)
	}
	f.stale(append(f.comparedReads(), b.Proof), why)
	f.unprove()
	f.propose(why)
	f.s.Hands = append(slices.Clone(f.s.Hands), Hand{HandAct: b, Seq: f.e.Seq, Actor: f.e.Actor})
	if !f.own.debts {
		f.s.Debts, f.own.debts = slices.Clone(f.s.Debts), true
	}
	f.s.Debts = append(f.s.Debts, Debt{DebtOpened: DebtOpened{ID: b.ID, Kind: ProofDebt, Of: b.Proof, Text: b.owes()}, Seq: f.e.Seq})
	return nil
}

// comparedReads are the reads of the plan in force that say whether the states agree.
func (f *folder) comparedReads() []string {
	var out []string
	for i := range f.s.Steps {
		st := &f.s.Steps[i]
		if st.Retired || st.Kind != CompareStep && (st.Kind != ConcludeStep || Topic(st.Uses) != TopicConsistent) {
			continue
		}
		for _, ref := range st.Refs {
			if j := f.find(ref); j >= 0 && f.s.Steps[j].Kind == ProbeStep && !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

func (b HandAct) moment(_ *folder) Moment {
	return Moment{Step: b.Proof, Text: fmt.Sprintf("%s changed %s by hand: %s; owes its proof, a read of %s", b.Person, b.Object, b.What, b.Proof), Level: "warning"}
}

// owes is the text of the debt that it leaves.
func (b HandAct) owes() string {
	return because(fmt.Sprintf("the change of %s by hand is shown by a read of %s after it", b.Object, b.Proof), b.Shows)
}

// Shows lists the steps of the plan in force whose read can show a repair by hand:
// first those of verify.
func (s State) Shows() []Step {
	var out, rest []Step
	for i := range s.Steps {
		switch st := &s.Steps[i]; {
		case st.Retired || st.Kind != ProbeStep && st.Kind != WatchStep:
		case st.Phase == Verify:
			out = append(out, *st)
		default:
			rest = append(rest, *st)
		}
	}
	return append(out, rest...)
}

// handLaws say why no repair by hand can be recorded.
func handLaws(s *State) []Refusal {
	if len(s.Shows()) > 0 {
		return nil
	}
	return []Refusal{{Law: 8, Why: "no read of the plan in force can show it", Cure: "Switch to a runbook that reads what was repaired."}}
}

// NextDebt is the name of the next debt of a kind: the kind itself, numbered from the
// second of its kind.
func (s State) NextDebt(kind string) string {
	n := 1
	for _, d := range s.Debts {
		if d.Kind == kind {
			n++
		}
	}
	if n == 1 {
		return kind
	}
	return kind + strconv.Itoa(n)
}

// proofLacks says what the proof of a repair by hand still lacks, "" for nothing: a
// probe that was read, or a watch that turned green, since the repair was recorded.
func (s *State) proofLacks(d Debt) string {
	st, ok := s.Step(d.Of)
	switch {
	case d.Kind != ProofDebt || s.Outcome != "":
		return ""
	case !ok || st.Retired:
		return d.Of + " belongs to an earlier plan and is no longer read"
	case st.StartSeq <= d.Seq || st.Status == Running:
		return d.Of + " was not read since"
	case st.Kind == WatchStep && st.Status != Settled:
		return d.Of + " is not green since"
	case st.Kind == ProbeStep && (st.Status != Settled || st.Outcome != "ok"):
		return d.Of + " could not be read since"
	}
	return ""
}

// Unserved is a gate of the plan in force that does not serve the repair, and why.
type Unserved struct {
	Gate  string
	Why   string
	Aside bool // it does not apply, or was passed over
}

// NoGate lists, once the call came to the repair, the gates that should serve it where
// none of them does: each is passed over, does not apply, was refused or stays shut.
// It is empty while one may still open, and once something was repaired. options are
// those of this state.
func (s State) NoGate(options []Option) (list []Unserved, none bool) {
	if s.Kind == Readiness || s.Outcome != "" || s.Acting != "" || len(s.Hands) > 0 || repaired(&s, 0) {
		return nil, false // a review repairs nothing
	}
	i := slices.IndexFunc(options, func(o Option) bool { return o.Recommended })
	if i < 0 {
		return nil, false
	}
	o := options[i]
	at := slices.Index(Phases(), s.PhaseOf(o))
	here := slices.Index(Phases(), Recover)
	if o.Kind == DoPreview || o.Kind == DoConfirm || o.Kind == DoApprove || at < here || at == here && o.Kind != DoSkip {
		return nil, false
	}
	apply := false
	for j := range s.Steps {
		st := &s.Steps[j]
		if st.Retired || st.Phase != Recover || st.Kind != GateStep || !serves(st) {
			continue
		}
		g := s.Gates[st.ID]
		switch {
		case g.Phase == GateDone && g.Again.Outcome != Undone, g.Phase == GateArmed, g.Phase == GateConfirmed:
			return nil, false
		}
		why, aside := s.unserved(st, g, options)
		apply = apply || !aside
		list = append(list, Unserved{Gate: st.ID, Why: why, Aside: aside})
	}
	// Where the sides agree and no gate applies, nothing is left to repair.
	return list, apply || s.Topics[TopicConsistent].Value != "yes"
}

// serves reports whether a gate can be the repair, or the release that it waits for.
func serves(gate *Step) bool {
	return gate.Class == Release || repairs(gate)
}

// unserved says why a gate does not serve, and whether that is because it does not
// apply, or a person passed it over.
func (s *State) unserved(st *Step, g GateState, options []Option) (why string, aside bool) {
	i := slices.IndexFunc(options, func(o Option) bool { return o.Kind == DoPreview && o.Step == st.ID })
	switch {
	case i >= 0 && options[i].Aside:
		return "it does not apply", true
	case st.Status == Skipped:
		return because("it was passed over", st.How), true
	case g.WasRefused:
		return g.Why, false
	case i >= 0 && len(options[i].Refusals) > 0:
		return options[i].Refusals[0].Why, false
	case g.Phase != GateIdle:
		return because("its act "+string(g.Phase), g.Response), false
	}
	return "it was not opened", false
}
