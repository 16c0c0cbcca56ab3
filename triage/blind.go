package triage

import (
	"fmt"
	"slices"
	"strings"
)

// No blind refresh: what writes the record, or takes what exists into it, waits until four
// questions about the difference are answered. What the call concluded, compared and agreed
// answers them; what is left is asked of a person, all on one sheet.

// DriftQuestion is one of the four questions about a difference.
type DriftQuestion struct{ ID, Ask string }

// DriftQuestions lists them.
func DriftQuestions() []DriftQuestion {
	return []DriftQuestion{
		{"differs", "Why does what exists differ from what is recorded or wanted?"},
		{"authorised", "Who authorised it?"},
		{"git", "Must Git change?"},
		{"handling", "Must policy approve: is it an exception, an incident or ordinary reconciliation?"},
	}
}

// RecordKinds are the kinds of gates that write the record without changing what exists, or
// take what exists into it.
func RecordKinds() []string {
	return []string{
		"terraform/import", "terraform/import-batch", "terraform/state-rm", "terraform/state-mv",
		"terraform/restore-state", "terraform/apply-refresh",
	}
}

// DriftAnswer answers questions about the difference that nothing else answers.
type DriftAnswer struct {
	Answers []KV   `json:"answers"` // by the id of the question
	Person  string `json:"person"`
}

// DriftSaid is such an answer as it was recorded.
type DriftSaid struct {
	DriftAnswer
	Seq int64
}

// Type implements [Body].
func (DriftAnswer) Type() string { return "drift.answer" }

func (b DriftAnswer) fold(f *folder) error {
	if blank(b.Person) {
		return f.refuse("it does not name who answers")
	}
	if len(b.Answers) == 0 {
		return f.refuse("it answers nothing")
	}
	for _, kv := range b.Answers {
		if !slices.ContainsFunc(DriftQuestions(), func(q DriftQuestion) bool { return q.ID == kv.Key }) {
			return f.refuse("%q is not a question about a difference", kv.Key)
		}
		if blank(kv.Value) {
			return f.refuse("the answer to %q is empty", kv.Key)
		}
	}
	f.s.Drift = append(slices.Clip(f.s.Drift), DriftSaid{DriftAnswer: b, Seq: f.e.Seq})
	return nil
}

func (b DriftAnswer) moment(_ *folder) Moment {
	var said []string
	for _, kv := range b.Answers {
		for _, q := range DriftQuestions() {
			if q.ID == kv.Key {
				said = append(said, q.Ask+" "+kv.Value)
			}
		}
	}
	return Moment{Text: b.Person + " says of the difference: " + strings.Join(said, "; "), Level: "info"}
}

// Drifted is one of the four questions and what answers it.
type Drifted struct {
	DriftQuestion
	Answer string // "" where nothing answers it
	From   string // what answers it
}

// Drifted says of the four questions what answers each.
func (s State) Drifted() []Drifted {
	out := make([]Drifted, 0, len(DriftQuestions()))
	for _, q := range DriftQuestions() {
		d := Drifted{DriftQuestion: q}
		switch q.ID {
		case "differs":
			d.Answer, d.From = s.whyDiffers()
		case "authorised":
			d.Answer, d.From = s.whoAuthorised()
		case "git":
			d.Answer, d.From = s.gitChanges()
		case "handling":
			d.Answer, d.From = s.handling()
		}
		if d.Answer == "" {
			d.Answer, d.From = s.driftSaid(q.ID)
		}
		out = append(out, d)
	}
	return out
}

// driftSaid is what a person said to a question since the difference was last judged.
func (s *State) driftSaid(id string) (answer, from string) {
	since := max(s.Topics[TopicClass].Seq, s.Topics[TopicConsistent].Seq)
	for _, said := range slices.Backward(s.Drift) {
		for _, kv := range said.Answers {
			if kv.Key == id && said.Seq > since {
				return kv.Value, said.Person
			}
		}
	}
	return "", ""
}

// whyDiffers is the class, once something was compared: a class alone is a name.
func (s *State) whyDiffers() (answer, from string) {
	class, consistent := s.Topics[TopicClass], s.Topics[TopicConsistent]
	if !final(class) {
		return "", ""
	}
	compared := final(consistent) || slices.ContainsFunc(s.Steps, func(st Step) bool {
		return st.Kind == CompareStep && !st.Retired && st.Status == Settled
	})
	if !compared {
		return "", ""
	}
	means := class.Value
	for _, f := range FailureStates() {
		if f.Name == class.Value {
			means += ", " + f.Means
		}
	}
	return means, "the class, beside what was compared"
}

// whoAuthorised is what was agreed last in authority, or the approval that is among the
// evidence. To own the transition is not to have authorised it.
func (s *State) whoAuthorised() (answer, from string) {
	for _, st := range slices.Backward(s.Steps) {
		if st.Retired || st.Phase != Authority || st.Status != Settled {
			continue
		}
		if st.Kind == AskStep && st.Answer != Unknown && st.ID != runbookOf(st.ID)+"/retry" {
			return st.Title + " " + st.Answer, st.ID
		}
	}
	for _, c := range Coverage(*s) {
		if (c.Item == "E6" || c.Item == "E2") && c.Standing == Captured && c.Why != "" {
			return c.Means + ": " + c.Why, c.Step
		}
	}
	return "", ""
}

// gitChanges follows from the class where that says which side is wrong, else from a
// comparison with what is desired.
func (s *State) gitChanges() (answer, from string) {
	class := s.Topics[TopicClass]
	if !final(class) {
		return "", ""
	}
	switch class.Value {
	case "RecordedStateDiverged":
		return "no: the record is what is wrong", "the class"
	case "MutationPartiallySucceeded":
		return "no: what was approved stays, and is finished or taken back", "the class"
	case "ReconciliationUnsafe", "PlanGeneratedButUnsafe":
		return "yes: what is wanted there is what is wrong", "the class"
	case "RejectedBeforePlan", "ApprovedButStale", "MutationNotStarted", "ReconciliationBlocked":
		return "no: nothing differs by a change of its own", "the class"
	}
	agree, seen := true, ""
	for i := range s.Steps {
		st := &s.Steps[i]
		if st.Retired || st.Kind != CompareStep || st.Status != Settled {
			continue
		}
		for _, row := range st.Rows {
			want, a := row.Side(Desired)
			is, b := row.Side(Actual)
			if !a || !b {
				continue
			}
			seen = st.ID
			agree = agree && want.Value.Known() && is.Value.Known() && sameSide(want.Value, is.Value)
		}
	}
	if seen != "" && agree {
		return "no: what exists is as Git has it", seen
	}
	return "", ""
}

// handling follows from the severity: a gate asks its policy by itself.
func (s *State) handling() (answer, from string) {
	switch s.worst() {
	case Sev1, Sev2, Sev3:
		return "an incident, " + string(s.Severity) + "; each gate asks the policy in force", "the severity"
	case Sev4:
		return "ordinary reconciliation, " + string(Sev4) + "; each gate asks the policy in force", "the severity"
	}
	return "", ""
}

func final(c Conclusion) bool {
	return c.Value != "" && c.Value != Unknown && !c.Provisional && !c.Lapsed
}

// Undrifted lists the questions about the difference that nothing answers yet.
func (s State) Undrifted() []DriftQuestion {
	var out []DriftQuestion
	for _, d := range s.Drifted() {
		if d.Answer == "" {
			out = append(out, d.DriftQuestion)
		}
	}
	return out
}

// blindLaws keep a gate that writes the record shut while a question about the difference is
// open. Like recoveryLaws they are asked of what is yet to come, never of what a journal
// records.
func blindLaws(s *State, st *Step) []Refusal {
	if !slices.Contains(RecordKinds(), st.Uses) {
		return nil
	}
	var out []Refusal
	for _, q := range s.Undrifted() {
		out = append(out, Refusal{
			Law: 13, Why: fmt.Sprintf("%s writes the record, and nothing answers: %s", st.ID, q.Ask),
			Cure: "Compare and classify, or say it by name.",
		})
	}
	return out
}
