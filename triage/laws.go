package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The laws of the loop, asked of a state. Options and Fold ask the same
// functions, so that what is offered is what is accepted.

// isCapture reports whether a step is a required capture of preserve (law 1).
func isCapture(st *Step) bool { return st.Phase == Preserve && st.Required && st.Kind != GateStep }

// isProof reports whether a step has a part in proving the recovery (law 8).
func isProof(st *Step) bool {
	return st.Phase == Verify && (st.Kind == WatchStep || (st.Required && st.Kind != NoteStep))
}

// denies reports whether a question of verify was answered, and with what its
// runbook does not call green: an unknown proves nothing. A plan from before
// runbooks said so takes every answer; see vagueLaws.
func denies(st *Step) bool {
	said := st.Phase == Verify && st.Kind == AskStep && len(st.PlanStep.Green) > 0 && st.Answer != "" && st.Status != Skipped
	return said && !slices.Contains(st.PlanStep.Green, st.Answer)
}

// Denies reports whether the answer to a question of verify says that it did not
// recover, or unknown.
func (st Step) Denies() bool { return denies(&st) }

// denied reports whether a step denies the recovery and no person has set that
// aside since: a waiver from before is of a proof that was missing, not of this word.
func denied(s *State, st *Step) bool {
	return denies(st) && !slices.ContainsFunc(s.Waivers, func(w Waiver) bool {
		return w.Law == 8 && w.Subject == st.ID && w.Seq > st.EndSeq
	})
}

// waived reports whether a law was waived for one of the subjects, and its parameters
// stayed as they were since.
func waived(s *State, law int, subjects ...string) bool {
	return slices.ContainsFunc(s.Waivers, func(w Waiver) bool {
		if w.Law != law || !slices.Contains(subjects, w.Subject) {
			return false
		}
		st, _ := s.Step(w.Subject)
		return w.Seq > st.Moved || st.Moved == 0
	})
}

// OpenCaptures lists the required captures of the plan in force that are
// neither recorded nor waived (law 1).
func (s State) OpenCaptures() []Step {
	var out []Step
	for i := range s.Steps {
		if st := &s.Steps[i]; !st.Retired && isCapture(st) && !recorded(&s, st) && !waived(&s, 1, st.ID) {
			out = append(out, *st)
		}
	}
	return out
}

// OpenProofs lists the verifications that are neither green nor waived (law 8):
// those of the plan in force, and of earlier plans that began an act.
func (s State) OpenProofs() []Step {
	var out []Step
	for i := range s.Steps {
		st := &s.Steps[i]
		open := isProof(st) && st.Status != Settled && !waived(&s, 8, st.ID) || denied(&s, st)
		if open && inPlay(&s, st) {
			out = append(out, *st)
		}
	}
	return out
}

// proofRefusal says what keeps a verification open.
func proofRefusal(st Step) Refusal {
	if denies(&st) {
		return Refusal{
			Law: 8, Why: st.ID + " is answered " + st.Answer + ", which does not prove the recovery",
			Cure: "Continue the repair and answer it again, close the incident as open, or waive it with a name and a reason.",
		}
	}
	return Refusal{Law: 8, Why: st.ID + " is not green yet", Cure: "Watch " + st.ID + " until it is, or waive it with a name and a reason."}
}

// vagueLaws are asked of a close that is yet to come, never of one that a journal
// records: in a plan from before runbooks said which answers are green, only the
// first answer of a question counts as one.
func vagueLaws(s *State) []Refusal {
	var out []Refusal
	for _, st := range vagueProofs(s) {
		out = append(out, Refusal{
			Law: 8, Why: st.ID + " is answered " + st.Answer + ", and its runbook does not say whether that is green",
			Cure: "Waive it with a name and a reason, or close the incident as open.",
		})
	}
	return out
}

func vagueProofs(s *State) []Step {
	var out []Step
	for i := range s.Steps {
		st := &s.Steps[i]
		vague := st.Phase == Verify && st.Kind == AskStep && len(st.PlanStep.Green) == 0 && len(st.Answers) > 0
		if vague && st.Status == Settled && st.Answer != st.Answers[0] && inPlay(s, st) && !waived(s, 8, st.ID) {
			out = append(out, *st)
		}
	}
	return out
}

// Unresolved is the gate whose act has no known end, "" for none.
func (s State) Unresolved() string {
	out := ""
	for id, g := range s.Gates {
		if g.Phase == GateUnknown && (out == "" || id < out) {
			out = id
		}
	}
	return out
}

// gateLaws says why the laws keep a gate shut, its own conditions apart.
func gateLaws(s *State, st *Step) []Refusal {
	var out []Refusal
	if s.Acting != "" {
		out = append(out, Refusal{Why: s.Acting + " is acting", Cure: "Wait until it has ended."})
	}
	if id := s.Unresolved(); id != "" {
		out = append(out, Refusal{
			Law: 11, Why: "it is unknown how the act of " + id + " ended",
			Cure: "Open " + id + " to read its target again; until then every gate is shut.",
		})
	}
	if st.Retired {
		out = append(out, Refusal{Why: st.ID + " belongs to an earlier plan"})
	}
	for _, c := range s.OpenCaptures() {
		out = append(out, Refusal{Law: 1, Why: captureLack(c), Cure: "Run " + c.ID + ", or waive it with a name and a reason."})
	}
	out = append(out, classLaws(s, st.Class)...)
	out = append(out, findingLaws(s, st.ID)...)
	return append(out, commandLaws(s, st.Class, s.Severity)...)
}

// commandLaws wants a commander at the gates of SEV-1.
func commandLaws(s *State, class Class, at Severity) []Refusal {
	if at != Sev1 || class != Repair && class != Rerun || hasCommander(s) {
		return nil
	}
	was := ""
	if s.Severity != at {
		was = ", and the incident was there"
	}
	return []Refusal{{Why: "at SEV-1 a " + string(class) + " gate needs an incident commander" + was, Cure: "Add the person in the role commander."}}
}

func captureLack(c Step) string {
	switch c.Status {
	case CannotTell:
		return "the required capture " + c.ID + " could not be read"
	case Stale:
		return "the required capture " + c.ID + " is stale: its target moved"
	}
	return "the required capture " + c.ID + " is not recorded"
}

func hasCommander(s *State) bool {
	return slices.ContainsFunc(s.People, func(p Person) bool { return slices.Contains(p.Roles, "commander") })
}

// classLaws is the table in docs/decisions.md, Gates: what each class of gate wants known.
func classLaws(s *State, class Class) []Refusal {
	var out []Refusal
	mutation, ok := s.Topics[TopicMutation]
	if ok = ok && !mutation.Lapsed; !ok {
		out = append(out, Refusal{Law: 2, Why: "whether the mutation started is not concluded", Cure: "Conclude mutation; unknown is an answer."})
	}
	fail := s.Topics[TopicClass]
	if fail.Value == "" || fail.Value == Unknown {
		out = append(out, Refusal{Law: 2, Why: "the failure is not classified", Cure: "Conclude the class."})
	}
	if class == Contain || class == Release {
		return out
	}
	if ok && (mutation.Value == Unknown || mutation.Provisional) {
		out = append(out, Refusal{
			Law: 3, Why: "it is not certain whether the mutation started, and unknown is not no",
			Cure: "Find out, and conclude mutation as a final yes or no.",
		})
	}
	if fail.Provisional {
		out = append(out, Refusal{Law: 2, Why: "the class is provisional", Cure: "Conclude the final class."})
	}
	out = append(out, undoneLaws(s)...)
	out = append(out, revertsLaws(s)...)
	if c := s.Topics[TopicConsistent]; class == Rerun && (c.Value == "" || c.Value == Unknown) {
		out = append(out, Refusal{
			Law: 3, Why: "it is unknown whether the states agree",
			Cure: "Compare and conclude consistent yes or no.",
		})
	}
	return out
}

// revertsLaws hold for as long as the newest word is that something reverts every
// fix: a repair would race its writer, and nothing has recovered (law 12).
func revertsLaws(s *State) []Refusal {
	if s.Topics[TopicReverts].Value != "yes" {
		return nil
	}
	return []Refusal{{Law: 12, Why: "something reverts every fix", Cure: "Find and pause the writer, then conclude reverts no."}}
}

// verdictLaws says which conditions of a gate do not hold. Conditions that
// were not judged do not hold.
func verdictLaws(st *Step, verdicts []Verdict) []Refusal {
	if len(verdicts) == 0 && len(st.Refs) > 0 {
		return []Refusal{{Law: 11, Why: "the conditions of " + st.ID + " were not evaluated"}}
	}
	var out []Refusal
	for _, v := range verdicts {
		if v.Result == "true" {
			continue
		}
		r := Refusal{Law: 11, Why: v.Why, Cure: "Make it true: " + v.Expr, At: v.At}
		if r.Why == "" {
			r.Why = fmt.Sprintf("the condition %q of %s is %q", v.Expr, st.ID, v.Result)
		}
		switch {
		case len(v.Missing) > 0:
			r.Cure = "Find out: " + strings.Join(v.Missing, ", ")
		case v.Result == "stale":
			r.Cure = "It is stale: read it again."
		case v.Result == "false" && len(v.Aged) > 0:
			r.Law, r.Cure = 0, "Time alone has met it by now: read "+strings.Join(v.Aged, ", ")+" again."
		case v.Result == "false" && !v.At.IsZero():
			r.Law, r.Cure = 0, "Time alone meets it: wait, and read it again."
		case v.Result == "false" && len(v.Params) > 0:
			r.Law, r.Params, r.Cure = 0, v.Params, "Give the parameter "+strings.Join(v.Params, " or ")+"."
		case v.Result == "false":
			r.Law = 0
		case v.Expr == "":
			r.Cure = ""
		}
		out = append(out, r)
	}
	return out
}

// wideningLaws wants a reason for a containment wider than the narrowest, which
// is the first one that the plan in force names (law 7).
func wideningLaws(s *State, st *Step, why string) []Refusal {
	if st.Class != Contain || !blank(why) {
		return nil
	}
	for _, p := range s.Plan().Steps {
		if p.Kind == GateStep && p.Class == Contain {
			if p.ID == st.ID {
				return nil
			}
			return []Refusal{{
				Law: 7, Why: st.ID + " affects more than " + p.ID + " and gives no reason",
				Cure: "Use " + p.ID + ", or say why it is not enough.",
			}}
		}
	}
	return nil
}

// ownerLaws names the controllers that would undo an act and are neither paused
// nor waived (law 12).
func ownerLaws(s *State, g GateState) []Refusal {
	var out []Refusal
	for _, o := range g.Shown.Owners {
		if o.Paused != "yes" && !waived(s, 12, o.Name, g.Step) {
			out = append(out, Refusal{
				Law: 12, Why: o.Name + " may undo it, and it is not confirmed to be paused",
				Cure: "Pause " + o.Name + " first, or waive it with a name and a reason.",
			})
		}
	}
	return out
}

// skipLaws says why a step cannot be skipped.
func skipLaws(s *State, st *Step) []Refusal {
	switch {
	case isCapture(st):
		return []Refusal{{Law: 1, Why: st.ID + " is a required capture", Cure: "Run it, or waive it with a name and a reason."}}
	case isProof(st):
		return []Refusal{{Law: 8, Why: st.ID + " proves the recovery", Cure: "Watch it, or waive it with a name and a reason."}}
	case denies(st) && st.Answer != Unknown:
		return []Refusal{{Law: 8, Why: st.ID + " was answered " + st.Answer, Cure: "Answer it again, or waive it with a name and a reason."}}
	case st.Status == Running:
		return []Refusal{{Why: st.ID + " is running", Cure: "Cancel it, or wait until it ends."}}
	case st.Status == Settled || st.Status == Skipped:
		return []Refusal{{Why: st.ID + " is " + string(st.Status) + " already"}}
	case st.Kind != GateStep:
		return nil
	}
	if p := s.Gates[st.ID].Phase; p == GateArmed || p == GateConfirmed || p == GateActing || p == GateUnknown {
		return []Refusal{{Why: st.ID + " is " + string(p), Cure: "Disarm it first."}}
	}
	return nil
}

// closeLaws says what keeps an incident from closing with an outcome.
func closeLaws(s *State, outcome string) []Refusal {
	var out []Refusal
	if s.Acting != "" {
		out = append(out, Refusal{Why: s.Acting + " is acting", Cure: "Wait until it has ended."})
	}
	switch outcome {
	case "open", "aborted":
		return out
	case s.Ends():
		if outcome == Reviewed {
			return append(out, reviewLaws(s)...)
		}
	default:
		return append(out, Refusal{Why: fmt.Sprintf("%q is not an outcome of an incident", outcome), Cure: "Use " + s.Ends() + ", open or aborted."})
	}
	if c, ok := s.Topics[TopicMutation]; !ok || c.Lapsed || c.Provisional {
		out = append(out, Refusal{Law: 2, Why: "mutation has no final conclusion", Cure: "Conclude mutation; unknown is an answer."})
	}
	if c := s.Topics[TopicClass]; c.Value == "" || c.Value == Unknown || c.Provisional {
		out = append(out, Refusal{Law: 2, Why: "the class has no final conclusion", Cure: "Conclude the final class."})
	}
	if id := s.Unresolved(); id != "" {
		out = append(out, Refusal{Law: 11, Why: "it is unknown how the act of " + id + " ended", Cure: "Open " + id + " to read its target again."})
	}
	if id := armedGate(s); id != "" {
		out = append(out, Refusal{Why: id + " is armed", Cure: "Act or disarm it."})
	}
	out = append(out, rereadLaws(s)...)
	out = append(out, revertsLaws(s)...)
	out = append(out, findingLaws(s, Closing)...)
	for _, st := range s.OpenProofs() {
		out = append(out, proofRefusal(st))
	}
	for _, d := range s.Debts {
		if d.Settled.How == "" {
			out = append(out, Refusal{Law: 9, Why: "the debt " + d.ID + " is open: " + d.Text, Cure: "Pay it, or carry it with an owner and a date."})
		}
	}
	return out
}

// armedGate is the first gate by name that is armed or confirmed.
func armedGate(s *State) string {
	out := ""
	for id, g := range s.Gates {
		if (g.Phase == GateArmed || g.Phase == GateConfirmed) && (out == "" || id < out) {
			out = id
		}
	}
	return out
}

// settleLacks names what a settlement lacks, "" for nothing.
func settleLacks(b Settle) string {
	switch b.How {
	case "paid":
		if blank(b.Proof) {
			return "a proof that it was paid"
		}
	case "carried":
		if _, err := time.Parse(time.DateOnly, b.Until); err != nil || blank(b.Owner) {
			return "an owner and a date (2006-01-02) to be carried"
		}
	case "waived":
		if blank(b.Person) || blank(b.Why) {
			return "a named person and a reason to be waived"
		}
	default:
		return "to be paid, carried or waived"
	}
	return ""
}
