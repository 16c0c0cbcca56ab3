package triage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/triage/record"
)

// PostCondition is one of the seven things that show a recovery: a run that ended green
// shows none of them by itself.
type PostCondition struct{ Code, Means string }

// PostConditions lists PC1 to PC7.
func PostConditions() []PostCondition {
	return []PostCondition{
		{"PC1", "desired is the approved Git revision"},
		{"PC2", "actual is as desired"},
		{"PC3", "recorded is as actual"},
		{"PC4", "the workloads are healthy"},
		{"PC5", "policy violations are resolved, or accepted by name"},
		{"PC6", "drift is back inside its threshold"},
		{EvidenceWhole, "audit and evidence trail are complete"},
	}
}

// EvidenceWhole is the post-condition that the loop shows by itself: no runbook picks it.
const EvidenceWhole = "PC7"

// Proves says which steps of verify show a post-condition.
type Proves struct {
	Code  string   `json:"code"`
	Steps []string `json:"steps"`
}

// Shown says how a post-condition stands.
type Shown string

// The standings of a post-condition.
const (
	PCShown    Shown = "shown"
	PCAccepted Shown = "accepted" // not shown, and a named person answers for that
	PCOpen     Shown = "open"     // not shown yet
	PCRed      Shown = "not so"   // what would show it says the opposite
	PCNotAsked Shown = "not asked"
)

// Condition is how one post-condition stands, and by what.
type Condition struct {
	PostCondition
	Shown Shown
	By    []ShownBy
}

// ShownBy is one proof of a post-condition: a step of verify, or an item of evidence.
type ShownBy struct {
	Step  string
	What  string // its kind, or the answer that was given
	Shown Shown
	Seq   int64
	At    time.Time
	Who   string // of a waiver
	Why   string
}

// Conditions says of PC1 to PC7 how each stands. What the plan in force does not pick is
// not asked; the last follows from the evidence.
func Conditions(s State) []Condition {
	out := make([]Condition, 0, len(PostConditions()))
	for _, pc := range PostConditions() {
		c := Condition{PostCondition: pc, Shown: PCNotAsked}
		if pc.Code == EvidenceWhole {
			c.By = s.evidenceBy()
			c.Shown = PCShown
		}
		for _, p := range s.Plan().Proves {
			if p.Code != pc.Code {
				continue
			}
			for _, id := range p.Steps {
				if st, ok := s.Step(id); ok {
					c.By = append(c.By, s.shownBy(&st))
				}
			}
		}
		for _, by := range c.By {
			c.Shown = weaker(c.Shown, by.Shown)
		}
		out = append(out, c)
	}
	return out
}

// Because says in one line what shows a post-condition, or what does not: at most three
// proofs, the weakest first.
func (c Condition) Because() string {
	const shown = 3
	var parts []string
	if c.Code == EvidenceWhole {
		return because("", c.lacking())
	}
	for _, want := range []Shown{PCRed, PCOpen, PCAccepted, PCShown} {
		for _, by := range c.By {
			if by.Shown != want {
				continue
			}
			name := by.Step
			text := bareOf(name) + " " + string(by.Shown)
			switch {
			case by.Shown == PCAccepted && by.Who != "":
				text = bareOf(name) + " accepted by " + by.Who
			case by.Shown == PCOpen:
				text = because(bareOf(name)+" open", by.Why)
			}
			parts = append(parts, text)
		}
	}
	if n := len(parts); n > shown {
		parts = append(parts[:shown:shown], fmt.Sprintf("and %d more", n-shown))
	}
	return because("", strings.Join(parts, "; "))
}

// lacking names the items of evidence that are open, and those that were waived, by whom.
func (c Condition) lacking() string {
	var open, waived []string
	for _, by := range c.By {
		name := bareOf(by.What)
		if by.Shown == PCOpen {
			open = append(open, name)
		} else if by.Who != "" {
			waived = append(waived, name+" by "+by.Who)
		} else {
			waived = append(waived, name)
		}
	}
	var parts []string
	if len(open) > 0 {
		parts = append(parts, "open "+strings.Join(open, ", "))
	}
	if len(waived) > 0 {
		parts = append(parts, "accepted "+strings.Join(waived, ", "))
	}
	return strings.Join(parts, "; ")
}

// bareOf is a step without its runbook.
func bareOf(id string) string {
	if _, bare, ok := strings.Cut(id, "/"); ok {
		return bare
	}
	return id
}

// weaker is the one of two standings that says less of a recovery: a condition is as good
// as its worst proof.
func weaker(a, b Shown) Shown {
	order := []Shown{PCNotAsked, PCShown, PCAccepted, PCOpen, PCRed}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

func (s *State) shownBy(st *Step) ShownBy {
	by := ShownBy{Step: st.ID, What: st.Uses, Shown: PCOpen, Seq: st.EndSeq, At: st.Ended}
	if st.Kind == AskStep {
		by.What = st.Answer
	}
	switch {
	case denied(s, st) || st.Kind == WatchStep && st.Green == "false" && st.Status != Settled:
		by.Shown, by.Why = PCRed, st.Summary
	case st.Status == Settled && !denies(st):
		by.Shown, by.Why = PCShown, st.Summary
		if f := against(st); f != "" {
			by.Shown, by.Why = PCRed, f
		}
	case st.Status == CannotTell:
		by.Why = because("could not be read", st.Summary)
	case st.Status == Skipped:
		by.Who, by.Why = s.said(st.EndSeq)
	case st.Status == Stale:
		by.Why = "its target moved after it was read"
	default:
		by.Why = "not read yet"
		if st.Kind == AskStep {
			by.Why = "not answered yet"
		}
	}
	if by.Shown == PCShown {
		return by
	}
	for _, w := range s.Waivers {
		if (w.Law == 8 || w.Law == LawNone) && w.Subject == st.ID && w.Seq > st.EndSeq {
			by.Shown, by.Seq, by.At, by.Who, by.Why = PCAccepted, w.Seq, w.At, w.Person, w.Why
		}
	}
	return by
}

// against is the first critical finding of a read of verify: it was read, and it shows the
// opposite.
func against(st *Step) string {
	for _, f := range st.Findings {
		if f.Level == record.Critical && !f.Unsure && len(f.Against) > 0 {
			return strings.TrimSpace(f.Say)
		}
	}
	return ""
}

// evidenceBy is what keeps the trail from being complete: items that are missing, and
// those that someone answered for.
func (s *State) evidenceBy() []ShownBy {
	var out []ShownBy
	for _, c := range Coverage(*s) {
		by := ShownBy{Step: c.Step, What: c.Item, Seq: c.Seq, At: c.At, Who: c.Who, Why: c.Why}
		switch c.Standing {
		case Missing:
			by.Shown = PCOpen
		case Forgone:
			by.Shown = PCAccepted
		default:
			continue
		}
		out = append(out, by)
	}
	return out
}

// EvidenceIncomplete is the failure state of a change without its proof.
const EvidenceIncomplete = "EvidenceIncomplete"

// Unproven lists the evidence that a change happened without: what the runbook asks for
// and that was waived, or that was tried and cannot be had. It is empty while it is not
// concluded that something changed.
func Unproven(s State) []Covered {
	if c := s.Topics[TopicMutation]; c.Value != "yes" || c.Lapsed {
		return nil
	}
	var out []Covered
	for _, c := range Coverage(s) {
		st, ok := s.Step(c.Step)
		gone := c.Standing == Missing && ok && (st.Status == CannotTell && st.Outcome != "cancelled" || st.Status == Skipped)
		if c.Standing == Forgone || gone {
			out = append(out, c)
		}
	}
	return out
}

// UnprovenClass is the class to propose where the rules propose another: the state of
// a change without its proof, where it hides nothing more urgent. known says that the
// rules could be told. The second result is false where the rules' own class stands.
//
// It takes the place of no class that calls for an act, of none that could not be told,
// and of nothing while the states differ or may: then it stands beside the class.
func UnprovenClass(s State, proposed string, known bool) ([]Covered, bool) {
	settled := proposed == "MutationNotStarted" || proposed == "RejectedBeforePlan" || proposed == Unknown && known
	c := s.Topics[TopicConsistent]
	if !settled || c.Value != "yes" || c.Provisional || s.Topics[TopicReverts].Value == "yes" || s.Topics[TopicMutation].Provisional {
		return nil, false
	}
	lack := Unproven(s)
	return lack, len(lack) > 0
}

// UnprovenLine is in one line what a change happened without.
func UnprovenLine(list []Covered) string {
	var names []string
	for _, c := range list {
		name := c.Item + " " + c.Means
		switch {
		case c.Standing == Forgone && c.Who != "":
			name += " (waived by " + c.Who + ")"
		case c.Standing == Forgone:
			name += " (waived)"
		default:
			name += " (cannot be had)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
