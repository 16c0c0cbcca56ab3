package triage

import (
	"fmt"
	"slices"
	"strings"
)

// Events about the call itself: who, how bad, where in the loop, what was said.

// Open begins an incident; it is the first event after the store's own.
type Open struct {
	Incident string   `json:"incident"`
	Title    string   `json:"title"`
	Severity Severity `json:"severity"`
	Drill    string   `json:"drill,omitempty"`
	Kind     string   `json:"kind,omitempty"`  // Readiness for a review, "" for an incident
	Rules    []KV     `json:"rules,omitempty"` // the team's files in force, by digest, or that there are none
}

// Type implements [Body].
func (Open) Type() string { return "open" }

func (b Open) fold(f *folder) error {
	if blank(b.Incident) {
		return f.refuse("it names no incident")
	}
	if !slices.Contains(severities(), b.Severity) {
		return f.refuse("%q is not a severity", b.Severity)
	}
	if b.Kind != "" && b.Kind != Readiness {
		return f.refuse("%q is not a kind of bundle", b.Kind)
	}
	f.s.Incident, f.s.Title, f.s.Drill, f.s.Kind = b.Incident, b.Title, b.Drill, b.Kind
	f.s.Severity, f.s.Worst, f.s.Opened, f.s.Rules = b.Severity, b.Severity, f.e.At, b.Rules
	f.s.Operator = f.e.Actor
	f.enter(Declare, "")
	return nil
}

func (b Open) moment(_ *folder) Moment {
	text := fmt.Sprintf("%s opened at %s: %s", b.Incident, b.Severity, b.Title)
	if b.Drill != "" {
		text += " (drill " + b.Drill + ")"
	}
	return Moment{Text: text, Level: "info"}
}

// Handover gives the keyboard to another operator from here on. Without To it
// leaves the keyboard free until the next operator takes it, with a Handover
// without From.
type Handover struct {
	From string `json:"from"`
	To   string `json:"to"`
	For  string `json:"for,omitempty"` // who it is given over to, in words
	Why  string `json:"why"`
}

// Type implements [Body].
func (Handover) Type() string { return "handover" }

// fold changes whose keyboard it is. It says from whom, so that a journal in
// which another operator continues without a word does not fold.
func (b Handover) fold(f *folder) error {
	gives := blank(b.To)
	switch {
	case blank(b.Why) || gives && blank(b.For):
		return f.refuse("a hand-over names who goes on, and why")
	case gives && f.s.Operator == "":
		return f.refuse("no one is at the keyboard to hand over")
	case gives && f.s.Acting != "":
		return f.refuse("%s is acting; wait until it has ended", f.s.Acting)
	case b.From != f.s.Operator:
		return f.refuse("it is handed over by %q, and %q is at the keyboard", b.From, f.s.Operator)
	case b.To == b.From:
		return f.refuse("%q cannot hand over to themselves", b.From)
	}
	from := b.From
	if from == "" {
		from = f.s.Handed.From
	}
	f.s.Operator = b.To
	f.s.Handed = Handed{From: from, To: b.To, For: b.For, Why: b.Why, At: f.e.At, Seq: f.e.Seq}
	return nil
}

func (b Handover) moment(_ *folder) Moment {
	switch {
	case b.To == "":
		return Moment{Text: because(b.From+" hands over to "+b.For+", and the keyboard is free", b.Why), Level: "warning"}
	case b.From == "":
		return Moment{Text: because(b.To+" is at the keyboard", b.Why), Level: "info"}
	}
	return Moment{Text: because(b.From+" handed over to "+b.To, b.Why), Level: "info"}
}

// GivenOver reports whether the operator handed over and no one has taken the
// keyboard yet.
func (s State) GivenOver() bool { return s.Operator == "" && s.Handed.Seq > 0 }

// Person names a participant of the call and how that is known.
type Person struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Proof   string   `json:"proof"` // kube, ssh, os or claimed
	Subject string   `json:"subject,omitempty"`
	Roles   []string `json:"roles,omitempty"`
}

// Type implements [Body].
func (Person) Type() string { return "person" }

func (b Person) fold(f *folder) error {
	if blank(b.ID) {
		return f.refuse("the person has no id")
	}
	if !slices.Contains([]string{"kube", "ssh", "os", "claimed"}, b.Proof) {
		return f.refuse("%q is not a proof of identity", b.Proof)
	}
	known := slices.ContainsFunc(f.s.People, func(p Person) bool { return p.ID == b.ID && p.Proof == b.Proof && p.Subject == b.Subject })
	if !known { // other roles say nothing of who acts as which user
		f.s.Users = f.s.Users.With(b, f.e.Actor)
	}
	if !f.own.people {
		f.s.People, f.own.people = slices.Clone(f.s.People), true
	}
	for i := range f.s.People {
		if f.s.People[i].ID == b.ID {
			f.s.People[i] = b
			return nil
		}
	}
	f.s.People = append(f.s.People, b)
	return nil
}

func (b Person) moment(_ *folder) Moment {
	text := b.Name + " is on the call (" + b.Proof + ")"
	if len(b.Roles) > 0 {
		text += " as " + strings.Join(b.Roles, ", ")
	}
	return Moment{Text: text}
}

// PhaseSet moves the call to a phase, forward or back.
type PhaseSet struct {
	To  Phase  `json:"to"`
	Why string `json:"why,omitempty"`
}

// Type implements [Body].
func (PhaseSet) Type() string { return "phase" }

func (b PhaseSet) fold(f *folder) error {
	if !slices.Contains(Phases(), b.To) {
		return f.refuse("%q is not a phase", b.To)
	}
	f.enter(b.To, b.Why)
	f.s.Return, f.s.ReturnWhy = "", ""
	return nil
}

func (b PhaseSet) moment(_ *folder) Moment {
	return Moment{Text: because("phase "+string(b.To), b.Why)}
}

// Note is free text.
type Note struct {
	Text string `json:"text"`
}

// Type implements [Body].
func (Note) Type() string { return "note" }

func (b Note) fold(f *folder) error {
	if blank(b.Text) {
		return f.refuse("the note is empty")
	}
	return nil
}

func (b Note) moment(_ *folder) Moment {
	return Moment{Text: b.Text}
}

// Correct corrects an earlier entry without touching it.
type Correct struct {
	Seq  int64  `json:"seq"`
	Text string `json:"text"`
}

// Type implements [Body].
func (Correct) Type() string { return "correct" }

func (b Correct) fold(f *folder) error {
	if b.Seq < 0 || b.Seq > f.s.Seq {
		return f.refuse("there is no earlier entry %d to correct", b.Seq)
	}
	if blank(b.Text) {
		return f.refuse("the correction of entry %d is empty", b.Seq)
	}
	return nil
}

func (b Correct) moment(_ *folder) Moment {
	return Moment{Text: fmt.Sprintf("corrects entry %d: %s", b.Seq, b.Text)}
}

// Waive sets aside law 1, 8 or 12 for one subject, or, as law 0, overrules what a
// step found against gates.
type Waive struct {
	Law      int      `json:"law"`
	Subject  string   `json:"subject"`            // a step id (laws 0, 1 and 8) or an owner's name (law 12)
	Findings []string `json:"findings,omitempty"` // of law 0: the texts that are overruled
	Person   string   `json:"person"`
	Why      string   `json:"why"`
}

// Type implements [Body].
func (Waive) Type() string { return "waive" }

// fold sets a law aside for one subject. The waiver is what counts, not the
// status: a waived capture that is tried again and fails stays waived.
func (b Waive) fold(f *folder) error {
	if !slices.Contains([]int{LawNone, 1, 8, 12}, b.Law) {
		return f.refuse("law %d cannot be waived", b.Law)
	}
	if blank(b.Person) || blank(b.Why) {
		return f.refuse("a waiver needs a named person and a reason")
	}
	if blank(b.Subject) {
		return f.refuse("the waiver has no subject")
	}
	switch b.Law {
	case LawNone:
		return f.overrule(b)
	case 12:
		f.addWaiver(b)
		return nil
	}
	i := f.find(b.Subject)
	if i < 0 {
		return f.refuse("the plan has no step %q", b.Subject)
	}
	if b.Law == 1 && !isCapture(&f.s.Steps[i]) {
		return f.refuse("step %q is not a required capture", b.Subject)
	}
	if st := &f.s.Steps[i]; b.Law == 8 && !isProof(st) && (st.Phase != Verify || st.Kind != AskStep) {
		return f.refuse("step %q proves no recovery", b.Subject)
	}
	if st := f.step(i); st.Status != Settled && st.Status != Running {
		st.Status = Waived
	}
	f.addWaiver(b)
	return nil
}

func (b Waive) moment(_ *folder) Moment {
	if b.Law == LawNone {
		return Moment{Text: fmt.Sprintf("%s overrules what %s found (%s): %s", b.Person, b.Subject, strings.Join(b.Findings, "; "), b.Why), Level: "critical"}
	}
	return Moment{Text: fmt.Sprintf("law %d waived for %s by %s: %s", b.Law, b.Subject, b.Person, b.Why), Level: "warning"}
}

// Close ends the incident.
type Close struct {
	Outcome string   `json:"outcome"` // recovered, open or aborted; of a review reviewed, open or aborted
	Why     string   `json:"why,omitempty"`
	Person  string   `json:"person,omitempty"` // of another outcome than recovered: who says so
	Left    []string `json:"left,omitempty"`   // and what it lacks
}

// Type implements [Body].
func (Close) Type() string { return "close" }

func (b Close) fold(f *folder) error {
	if rs := closeLaws(&f.s, b.Outcome); len(rs) > 0 {
		return f.unlawful(rs)
	}
	for _, id := range f.armed() {
		f.disarm(id, "the incident was closed")
	}
	f.s.Outcome, f.s.Closed = b.Outcome, f.e.At
	return nil
}

func (b Close) moment(_ *folder) Moment {
	m := Moment{Text: "closed as " + b.Outcome, Level: "info"}
	if b.Person != "" {
		m.Text += " by " + b.Person
	}
	m.Text = because(m.Text, b.Why)
	if len(b.Left) > 0 {
		m.Text += " (left: " + whatIsLeft(b.Left) + ")"
	}
	return m
}
