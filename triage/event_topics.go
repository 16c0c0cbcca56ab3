package triage

import "slices"

// Conclude settles a topic of the loop.
type Conclude struct {
	Topic       Topic    `json:"topic"`
	Value       string   `json:"value"`
	Proposed    string   `json:"proposed,omitempty"`
	Grounds     []string `json:"grounds,omitempty"`
	Why         string   `json:"why,omitempty"`
	Person      string   `json:"person,omitempty"`
	Provisional bool     `json:"provisional,omitempty"`
	Script      bool     `json:"script,omitempty"` // an answers file said so, and no person at the keyboard
}

// Type implements [Body].
func (Conclude) Type() string { return "conclude" }

func (b Conclude) fold(f *folder) error {
	if !slices.Contains(topics(), b.Topic) {
		return f.refuse("%q is not a topic", b.Topic)
	}
	if !validValue(b.Topic, b.Value) {
		return f.refuse("%q is not a value of %s", b.Value, b.Topic)
	}
	if rs := overrideLaws(b); len(rs) > 0 {
		return f.unlawful(rs)
	}
	c := Conclusion{
		Topic: b.Topic, Value: b.Value, Proposed: b.Proposed, Provisional: b.Provisional, Person: b.Person,
		Why: b.Why, Grounds: b.Grounds, Script: b.Script, Seq: f.e.Seq, At: f.e.At,
	}
	// What the evidence of this incident proposes, no table of usual cases contradicts.
	if b.Proposed == "" || b.Proposed != b.Value {
		c.Contradicts = f.s.contradiction(b.Topic, b.Value)
	}
	f.setTopic(c)
	for i := range f.s.Steps {
		st := &f.s.Steps[i]
		if st.Retired || st.Kind != ConcludeStep || Topic(st.Uses) != b.Topic {
			continue
		}
		to := Settled
		if b.Value == Unknown {
			to = CannotTell
		}
		f.settled(f.step(i), to)
	}
	return nil
}

func (b Conclude) moment(f *folder) Moment {
	text := string(b.Topic) + " is " + b.Value
	if b.Provisional {
		text += " (provisional)"
	}
	if b.Person != "" {
		text += ", says " + b.Person
	}
	m := Moment{Text: because(text, b.Why), Level: "info"}
	if c := f.s.Topics[b.Topic]; c.Contradicts != "" {
		m.Text += "; " + c.Contradicts
		m.Level = "warning"
	}
	return m
}

// validValue reports whether a topic may take a value.
func validValue(t Topic, value string) bool {
	if value == Unknown {
		return true
	}
	switch t {
	case TopicMutation, TopicConsistent, TopicReverts:
		return value == "yes" || value == "no"
	case TopicClass:
		return slices.ContainsFunc(FailureStates(), func(r FailureState) bool { return r.Name == value })
	case TopicDomain:
		return slices.ContainsFunc(Domains(), func(r Domain) bool { return r.Slug == value })
	case TopicOwner:
		return !blank(value)
	}
	return false
}

// Caution ranks a value of mutation, consistent or reverts: the higher, the
// more careful. Other topics have no order and give 0.
func Caution(t Topic, value string) int {
	order := []string{"no", "yes", Unknown}
	switch t {
	case TopicMutation:
	case TopicReverts: // yes shuts the repairs, unknown does not
		order = []string{"no", Unknown, "yes"}
	case TopicConsistent:
		order = []string{"yes", "no", Unknown}
	default:
		return 0
	}
	return slices.Index(order, value)
}

// overrideLaws says what a conclusion that differs from the proposal lacks: a
// step away from caution needs a named person and a reason, another class a
// reason. Without a proposal there is nothing to differ from.
func overrideLaws(b Conclude) []Refusal {
	if b.Proposed == "" || b.Proposed == b.Value {
		return nil
	}
	var out []Refusal
	away := Caution(b.Topic, b.Value) < Caution(b.Topic, b.Proposed)
	if away && blank(b.Person) {
		out = append(out, Refusal{
			Law: 11, Why: "the evidence proposes " + b.Proposed + "; " + b.Value + " is less careful and names no person",
			Cure: "Name the person who says so.",
		})
	}
	if (away || b.Topic == TopicClass) && blank(b.Why) {
		out = append(out, Refusal{
			Law: 11, Why: "the evidence proposes " + b.Proposed + "; " + b.Value + " needs a reason",
			Cure: "Say in one sentence why.",
		})
	}
	return out
}
