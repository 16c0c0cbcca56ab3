package debrief

import (
	"fmt"
	"time"
)

// Verdict says whether a drill is won, "" for a real incident.
func (d Debriefing) Verdict() string {
	switch {
	case d.Drill == nil:
		return ""
	case !d.Drill.Judged:
		return "The drill was not judged."
	case d.Drill.Won:
		return "The drill is won."
	}
	return "The drill is not won."
}

// Lines is a debriefing as lines of text.
func (d Debriefing) Lines() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if v := d.Verdict(); v != "" {
		add("%s", v)
		for _, c := range d.Drill.Conditions {
			add("  %s: %s", c.Condition, c.word())
		}
	}
	for _, m := range d.Marks {
		if m.Reached {
			add("%s after %s (entry %d)", m.What, Span(m.After), m.Entry)
		} else {
			add("%s: never", m.What)
		}
	}
	add("%d pieces of evidence before anything was changed", d.Evidence)
	if len(d.Stopped) == 0 {
		add("there was no unsafe attempt to stop")
	}
	for _, s := range d.Stopped {
		add("stopped after %s: %s. %s", Span(s.After), s.Step, s.Why)
	}
	for _, a := range d.Acts {
		add("acted: %s, %s: %s", a.Step, a.Outcome, a.Command)
	}
	for _, w := range d.Waivers {
		add("waived by %s: %s. %s", w.Person, w.Of(), w.Why)
	}
	for _, x := range d.Debts {
		add("debt %s, %s: %s", x.ID, x.How, x.Text)
	}
	if d.Compared() {
		add("your path, next to the reference:")
	} else {
		add("your path:")
	}
	for _, l := range d.Legs {
		add("  %s", l.line())
	}
	for _, h := range d.Hints {
		add("%s", h)
	}
	return out
}

// Compared reports whether there is a reference to stand beside.
func (d Debriefing) Compared() bool { return d.Drill != nil && len(d.Drill.Path) > 0 }

func (c Condition) word() string {
	switch {
	case c.Holds:
		return "holds"
	case c.Why != "":
		return "does not hold: " + c.Why
	}
	return "does not hold"
}

func (l Leg) line() string {
	switch l.Is {
	case Same:
		return "=  " + l.Yours.line()
	case Otherwise:
		return "≠  " + l.Yours.line() + ", the reference: " + l.Reference.said()
	case Order:
		return "~  " + l.Yours.line() + ", at another time than the reference"
	case Extra:
		return "+  " + l.Yours.line()
	case LeftOut:
		return "-  " + l.Reference.String() + " (left out)"
	}
	return l.Yours.line()
}

func (s Stop) line() string {
	out := s.String()
	if s.Times > 1 {
		out += fmt.Sprintf(" (%d times)", s.Times)
	}
	return out
}

// Span is a duration for a person.
func Span(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
