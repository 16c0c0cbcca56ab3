package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/triage/record"
)

// What recovered means beyond closeLaws. Like vagueLaws, these are asked of a close
// that is yet to come, never of one that a journal records.

// recoveryLaws says what an incident lacks that would be closed as recovered.
// judge says which gates do not apply; without it none is known not to.
func recoveryLaws(s *State, judge func(step string) []Verdict) []Refusal {
	out := vagueLaws(s)
	out = append(out, agreementLaws(s)...)
	out = append(out, unfinishedLaws(s)...)
	out = append(out, standingLaws(s, judge)...)
	return append(out, tellingLaws(s)...)
}

// agreementLaws want known whether the states agree, and a difference mended or owed.
func agreementLaws(s *State) []Refusal {
	c := s.Topics[TopicConsistent]
	switch {
	case c.Value == "" || c.Value == Unknown:
		return []Refusal{{Law: 3, Why: "it is unknown whether the states agree", Cure: "Compare and conclude consistent, or close the incident as open."}}
	case c.Provisional:
		return []Refusal{{Law: 3, Why: "consistent has no final conclusion", Cure: "Compare and conclude consistent as a final yes or no."}}
	case c.Value == "no" && !repaired(s, c.Seq) && !owed(s, c.Seq) && (!repaired(s, 0) || !greenSince(s, c.Seq)):
		return []Refusal{{
			Law: 3, Why: "the states do not agree, and nothing was repaired since",
			Cure: "Repair it, or compare again and conclude consistent, or close the incident as open.",
		}}
	}
	return nil
}

// repaired reports whether a repair ended well after an entry: an act that was not
// undone since, a step by hand that pays for the difference, or a repair by hand that
// its proof has shown.
func repaired(s *State, since int64) bool {
	if byHand(s, since) {
		return true
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		switch {
		case st.Kind == GateStep:
			if repairs(st) && acted(s.Gates[st.ID], since) {
				return true
			}
		case st.Kind == ManualStep && (st.Pays == "reconcile" || st.Pays == "unfinished") && st.Status == Settled && st.EndSeq > since:
			return true
		}
	}
	return false
}

// PaidBy is the proof of the newest step by hand that pays debts of that kind and was
// done after the debt was opened, "" without one.
func (s State) PaidBy(d Debt) string {
	proof, at := "", d.Seq
	for _, st := range s.Steps {
		if st.Kind == ManualStep && st.Pays == d.Kind && st.Status == Settled && st.EndSeq > at {
			proof, at = st.Summary, st.EndSeq
		}
	}
	return proof
}

// greenSince reports whether a watch turned green after an entry: what was said while
// a repair still took effect is overtaken.
func greenSince(s *State, since int64) bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool {
		return st.Phase == Verify && st.Kind == WatchStep && st.Status == Settled && st.EndSeq > since
	})
}

// repairs reports whether a gate mends something. To resume gives back what a pause
// took.
func repairs(gate *Step) bool {
	return (gate.Class == Repair || gate.Class == Rerun) && !resumes(gate.Uses)
}

// acted reports whether the act of a gate was done after an entry and still holds.
func acted(g GateState, since int64) bool {
	return g.Phase == GateDone && g.EndSeq > since && g.Again.Outcome != Undone
}

// owed reports whether what is left to repair is a debt.
func owed(s *State, since int64) bool {
	return slices.ContainsFunc(s.Debts, func(d Debt) bool {
		return d.Seq > since && (d.Kind == "unfinished" || d.Kind == "reconcile")
	})
}

// Unfinished reports whether a change was made in part and no rerun finished it
// since. Who finishes it is owed by the change itself, whatever gate acted.
func (s State) Unfinished() bool {
	class, mutation := s.Topics[TopicClass], s.Topics[TopicMutation]
	if class.Value != "MutationPartiallySucceeded" || mutation.Value == "" || mutation.Value == "no" {
		return false
	}
	return !slices.ContainsFunc(s.Steps, func(st Step) bool {
		return st.Kind == GateStep && st.Class == Rerun && acted(s.Gates[st.ID], class.Seq)
	})
}

// Owing is the debt that an unfinished change leaves and that no entry records yet,
// once the call is past the repair. The second result is false for none.
func (s State) Owing() (DebtOpened, bool) {
	if s.Kind == Readiness {
		for i := range s.Steps {
			if d, ok := s.gapOf(&s.Steps[i]); ok && s.Outcome == "" {
				return d, true
			}
		}
		return DebtOpened{}, false
	}
	past := slices.Index(Phases(), s.Phase) >= slices.Index(Phases(), Verify) || len(s.OpenProofs()) == 0
	if s.Outcome != "" || !past || !s.Unfinished() || hasUnfinished(&s) {
		return DebtOpened{}, false
	}
	i := slices.IndexFunc(s.Steps, func(st Step) bool {
		return !st.Retired && st.Kind == ConcludeStep && Topic(st.Uses) == TopicMutation
	})
	if i < 0 {
		return DebtOpened{}, false
	}
	return DebtOpened{
		Kind: "unfinished", Of: s.Steps[i].ID,
		Text: "the change was made in part, and nothing here finished it: apply the rest, or take back what was made",
	}, true
}

func hasUnfinished(s *State) bool {
	return slices.ContainsFunc(s.Debts, func(d Debt) bool { return d.Kind == "unfinished" })
}

func unfinishedLaws(s *State) []Refusal {
	if !s.Unfinished() || hasUnfinished(s) {
		return nil
	}
	return []Refusal{{
		Law: 9, Why: "the change was made in part, and no debt says who finishes it",
		Cure: "Apply the rest, or go on to verify: it is owed from there, and can be carried with an owner and a date.",
	}}
}

// standingLaws want an answer to each critical finding: what kept a gate shut keeps
// the incident open.
func standingLaws(s *State, judge func(step string) []Verdict) []Refusal {
	var out []Refusal
	for i := range s.Steps {
		st := &s.Steps[i]
		for _, f := range unanswered(s, st, judge) {
			cure := "Read " + st.ID + " again, or overrule it with a name and a reason."
			if st.Retired {
				cure = "Overrule it with a name and a reason; " + st.ID + " belongs to an earlier plan and is no longer read."
			}
			out = append(out, Refusal{Why: "unanswered, " + st.ID + " found: " + strings.TrimSpace(f.Say), Cure: cure})
		}
	}
	return out
}

// unanswered are the critical findings of a step that stand against gates. One against
// the close itself is among findingLaws, one against nothing among tellingLaws. Once another repair was made, what stands only against gates
// that do not apply or were passed by a word is answered too.
func unanswered(s *State, st *Step, judge func(step string) []Verdict) []Finding {
	if !inPlay(s, st) {
		return nil
	}
	return slices.DeleteFunc(st.Speaking(), func(f Finding) bool {
		return f.Level != record.Critical || slices.Contains(f.Against, Closing) || repaired(s, 0) && allPassed(s, f.Against, judge)
	})
}

func allPassed(s *State, gates []string, judge func(step string) []Verdict) bool {
	return !slices.ContainsFunc(gates, func(id string) bool {
		st, ok := s.Step(id)
		return ok && st.Status != Skipped && !aside(id, judge)
	})
}

// outread are the steps with an unanswered finding from before the newest act, which
// may have dealt with it: they are worth another read before the close.
func outread(s *State, judge func(step string) []Verdict) []string {
	newest := int64(0)
	for _, g := range s.Gates {
		if g.Phase == GateDone {
			newest = max(newest, g.EndSeq)
		}
	}
	var out []string
	for i := range s.Steps {
		st := &s.Steps[i]
		read := st.Kind == ProbeStep || st.Kind == CompareStep
		if read && !st.Retired && st.EndSeq > 0 && st.EndSeq < newest && len(unanswered(s, st, judge)) > 0 {
			out = append(out, st.ID)
		}
	}
	return out
}

// left says what an incident lacks that is not closed as recovered.
func left(s *State) []string {
	var out []string
	for _, r := range append(closeLaws(s, "recovered"), recoveryLaws(s, nil)...) {
		out = append(out, r.Why)
	}
	return out
}

// whatIsLeft is left in one line.
func whatIsLeft(list []string) string {
	const shown = 3
	if len(list) > shown {
		list = append(slices.Clip(list[:shown]), fmt.Sprintf("and %d more", len(list)-shown))
	}
	return strings.Join(list, "; ")
}

// Proof reports whether a step is a watch of verify that is complete: what a close as
// recovered rests on.
func (st Step) Proof() bool {
	return st.Kind == WatchStep && st.Phase == Verify && st.Status == Settled && !st.Retired
}

// LastSample is when a watch was read last, zero where it never was.
func (st Step) LastSample() time.Time {
	if len(st.Samples) == 0 {
		return time.Time{}
	}
	return st.Samples[len(st.Samples)-1].At
}

// byHand reports whether a repair by hand after an entry was shown by its proof.
func byHand(s *State, since int64) bool {
	return slices.ContainsFunc(s.Debts, func(d Debt) bool { return d.Kind == ProofDebt && d.Seq > since && d.Settled.How == "paid" })
}
