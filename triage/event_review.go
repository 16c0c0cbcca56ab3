package triage

import (
	"fmt"
	"slices"
	"strings"
)

// A review goes through questions about a platform while nothing burns. It is kept like
// an incident: what was read, who said what, what is still to do, by whom and until when.

// Readiness is the kind of a review of how ready a platform is to recover.
const Readiness = "readiness"

// Reviewed is the outcome of a review in which every question has an answer and every gap
// an owner and a date.
const Reviewed = "reviewed"

// Ends is the outcome that the loop goes for.
func (s State) Ends() string {
	if s.Kind == Readiness {
		return Reviewed
	}
	return "recovered"
}

// Component is the failure model of one component, as the team states it.
type Component struct {
	Name  string `json:"name"`
	Parts []KV   `json:"parts"` // heading and what stands below it, in order
}

// ModelPrefix begins the id of a question about a failure model.
const ModelPrefix = "model_"

// Question is the id of the question whether the model holds: its name, without what an id cannot have.
func (c Component) Question() string {
	plain := strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return ModelPrefix + strings.Join(plain, "_")
}

// Type implements [Body].
func (Component) Type() string { return "component" }

func (b Component) fold(f *folder) error {
	switch {
	case f.s.Kind != Readiness:
		return f.refuse("only a review states components")
	case blank(b.Name):
		return f.refuse("the component has no name")
	case slices.ContainsFunc(f.s.Parts, func(c Component) bool { return c.Name == b.Name }):
		return f.refuse("component %q is stated already", b.Name)
	}
	f.s.Parts = append(slices.Clone(f.s.Parts), b)
	return nil
}

func (b Component) moment(_ *folder) Moment {
	return Moment{Text: fmt.Sprintf("the failure model of %s is stated in %d parts", b.Name, len(b.Parts))}
}

// gapOf is the debt that the answer to a question of a review leaves: whatever does not hold
// is a gap. The second result is false for none.
func (s *State) gapOf(st *Step) (DebtOpened, bool) {
	if s.Kind != Readiness || st.Kind != AskStep || st.Retired || st.Answer == "" || Gapless(st.Holds()) || s.gap(st.ID) >= 0 {
		return DebtOpened{}, false
	}
	text := "close the gap: " + st.Title
	if st.Holds() == Unknown {
		text = "find out: " + st.Title
	}
	return DebtOpened{Kind: questionOf(st.ID), Of: st.ID, Text: text}, true
}

// NoSuch answers the question about a component that the platform does not have.
const NoSuch = "none"

// Gapless reports whether an answer leaves no gap.
func Gapless(answer string) bool { return answer == "yes" || answer == NoSuch }

// worth orders the answers of a review, the worse first. What is not known is worse than
// a part.
var worth = []string{"no", Unknown, "partly", "yes"}

// Holds is what a question of a review comes to: of what was said and what was read the
// worse, so that no word covers a reading. A reading that knows nothing says nothing.
func (s Step) Holds() string {
	said, read := s.Answer, s.Proposed
	switch {
	case read == "" || read == Unknown || said == "" || said == NoSuch:
		return said
	case said == Unknown || slices.Index(worth, read) < slices.Index(worth, said):
		return read
	}
	return said
}

// questionOf is the name of a question without its runbook.
func questionOf(step string) string { return step[strings.LastIndexByte(step, '/')+1:] }

// gap is the debt of a question that is not paid, -1 for none.
func (s *State) gap(step string) int {
	return slices.IndexFunc(s.Debts, func(d Debt) bool { return d.Of == step && d.Settled.How != "paid" })
}

// reviewLaws say why a review may not be closed as reviewed.
func reviewLaws(s *State) []Refusal {
	var out []Refusal
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Kind == AskStep && !st.Retired && st.Answer == "" {
			out = append(out, Refusal{Why: fmt.Sprintf("“%s” has no answer", st.Title), Cure: "Answer it; unknown is an answer."})
		} else if d, ok := s.gapOf(st); ok {
			out = append(out, Refusal{Why: fmt.Sprintf("“%s” has no owner and no date", d.Text), Cure: "Carry it with an owner and a date."})
		}
	}
	for _, d := range s.Debts {
		switch d.Settled.How {
		case "":
			out = append(out, Refusal{Why: fmt.Sprintf("“%s” has no owner and no date", d.Text), Cure: "Carry it with an owner and a date."})
		case "waived":
			out = append(out, Refusal{Why: fmt.Sprintf("“%s” was waived", d.Text), Cure: "A gap of a review has an owner and a date."})
		}
	}
	return out
}
