package triage

import (
	"fmt"
	"strings"
)

// record puts the event that was folded on the timeline.
func (f *folder) record() {
	m := f.moment()
	m.Seq, m.At, m.Actor, m.Type = f.e.Seq, f.e.At, f.e.Actor, typeOf(f.e.Body)
	for _, d := range f.disarmed {
		m.Text += "; " + d
	}
	m.Text = oneLine(m.Text)
	if m.Level == "" && len(f.disarmed) > 0 {
		m.Level = "warning"
	}
	f.s.Timeline, f.s.log = grown(f.s.Timeline, f.s.log, m)
}

// oneLine keeps a text to one line. What else is in it is the business of
// whoever shows it.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// because adds a reason, where there is one.
func because(text, why string) string {
	if blank(why) {
		return text
	}
	return text + ": " + why
}

// moment says in one line what happened. The text of others goes in as it is.
func (f *folder) moment() Moment {
	switch b := f.e.Body.(type) {
	case ProbeStart, ProbeEnd, Answer, Manual, Skip:
		return stepMoment(f.e.Body)
	case GateShown, GateAnswered, GateClosed, Approve, ActStart, ActEnd, ActAgain:
		return gateMoment(f.e.Body)
	case Open:
		text := fmt.Sprintf("%s opened at %s: %s", b.Incident, b.Severity, b.Title)
		if b.Drill != "" {
			text += " (drill " + b.Drill + ")"
		}
		return Moment{Text: text, Level: "info"}
	case Handover:
		switch {
		case b.To == "":
			return Moment{Text: because(b.From+" hands over to "+b.For+", and nobody is at the keyboard", b.Why), Level: "warning"}
		case b.From == "":
			return Moment{Text: because(b.To+" is at the keyboard", b.Why), Level: "info"}
		}
		return Moment{Text: because(b.From+" handed over to "+b.To, b.Why), Level: "info"}
	case Person:
		text := b.Name + " is on the call (" + b.Proof + ")"
		if len(b.Roles) > 0 {
			text += " as " + strings.Join(b.Roles, ", ")
		}
		return Moment{Text: text}
	case Plan:
		return Moment{Text: because("runbook "+b.Runbook+" is in force", b.Title), Level: "info"}
	case SeveritySet:
		return Moment{Text: because("severity is "+string(b.Level), b.Why), Level: "warning"}
	case SeverityAsk:
		return Moment{Text: because("severity "+string(b.Lowers())+" waits for a second person", valueOf(b.Target, "because")), Level: "warning"}
	case PhaseSet:
		return Moment{Text: because("phase "+string(b.To), b.Why)}
	case Note:
		return Moment{Text: b.Text}
	case Correct:
		return Moment{Text: fmt.Sprintf("corrects entry %d: %s", b.Seq, b.Text)}
	case Conclude:
		return f.concluded(b)
	case DebtOpened:
		return Moment{Step: b.Of, Text: because("owes "+b.Kind+" "+b.ID, b.Text), Level: "warning"}
	case Settle:
		return Moment{Text: settleText(b), Level: "info"}
	case Waive:
		if b.Law == LawNone {
			return Moment{Text: fmt.Sprintf("%s overrules what %s found (%s): %s", b.Person, b.Subject, strings.Join(b.Findings, "; "), b.Why), Level: "critical"}
		}
		return Moment{Text: fmt.Sprintf("law %d waived for %s by %s: %s", b.Law, b.Subject, b.Person, b.Why), Level: "warning"}
	case Close:
		return Moment{Text: because("closed as "+b.Outcome, b.Why), Level: "info"}
	}
	return Moment{}
}

func (f *folder) concluded(b Conclude) Moment {
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

func settleText(b Settle) string {
	switch b.How {
	case "paid":
		return because("debt "+b.Debt+" paid", b.Proof)
	case "carried":
		return "debt " + b.Debt + " carried by " + b.Owner + " until " + b.Until
	}
	return because("debt "+b.Debt+" waived by "+b.Person, b.Why)
}

func stepMoment(body Body) Moment {
	switch b := body.(type) {
	case ProbeStart:
		return Moment{Step: b.Step, Text: fmt.Sprintf("%s began (attempt %d)", b.Step, b.N)}
	case ProbeEnd:
		m := Moment{Step: b.Step, Text: because(b.Step+" "+b.Outcome, b.Summary)}
		if b.Outcome != "ok" {
			m.Level = "warning"
		}
		for _, x := range b.Findings {
			if x.Level == "critical" || (x.Level == "warning" && m.Level == "") {
				m.Level = x.Level
			}
		}
		return m
	case Answer:
		return Moment{Step: b.Step, Text: because(b.Step+" answered "+b.Value, b.How)}
	case Manual:
		return Moment{Step: b.Step, Text: because(b.Step+" done", b.Proof)}
	case Skip:
		return Moment{Step: b.Step, Text: because(b.Step+" passed over", b.Why)}
	}
	return Moment{}
}

func gateMoment(body Body) Moment {
	switch b := body.(type) {
	case GateShown:
		state := b.Step + " is armed"
		if b.Second != nil {
			state = b.Step + " waits for a second person"
		}
		return Moment{Step: b.Step, Text: because(state, b.Effect), Level: "warning"}
	case GateAnswered:
		how := "typed"
		if b.Pasted {
			how = "pasted"
		}
		return Moment{Step: b.Step, Text: b.Step + " confirmed: " + how + " " + b.Typed, Level: "warning"}
	case GateClosed:
		text := b.Step + " closed"
		if b.Refused {
			text = b.Step + " refused"
		}
		text = because(text, b.Why)
		if len(b.Moved) > 0 {
			text += " (moved: " + strings.Join(b.Moved, ", ") + ")"
		}
		return Moment{Step: b.Step, Text: text, Level: "warning"}
	case Approve:
		m := Moment{Text: b.Person + " approved the action " + b.Digest[:min(6, len(b.Digest))]}
		if b.Key != "" {
			m.Text += " with the key " + b.Key
		}
		return m
	case ActStart:
		return Moment{Step: b.Step, Text: because(b.Step+" acts", b.Request), Level: "critical"}
	case ActEnd:
		m := Moment{Step: b.Step, Text: because(b.Step+" "+b.Outcome, b.Response), Level: "info"}
		if b.Outcome != "done" {
			m.Level = "critical"
		}
		return m
	case ActAgain:
		m := Moment{Step: b.Step, Text: because(b.Step+" read again: "+againText(b.Outcome), b.Response), Level: "info"}
		switch b.Outcome {
		case Undone:
			m.Level = "critical"
		case Unknown:
			m.Level = "warning"
		}
		return m
	}
	return Moment{}
}

// Refused reports whether a moment is an attempt that a gate refused.
func (m Moment) Refused() bool {
	return m.Type == "gate.closed" && strings.HasPrefix(m.Text, m.Step+" refused")
}

// Read reports whether a moment is a reading that came to something.
func (m Moment) Read() bool {
	return m.Type == "probe.end" && (m.Text == m.Step+" ok" || strings.HasPrefix(m.Text, m.Step+" ok:"))
}
