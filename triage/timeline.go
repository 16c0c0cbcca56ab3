package triage

import (
	"strings"
)

// record puts the event that was folded on the timeline.
func (f *folder) record() {
	m := f.e.Body.moment(f)
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

// Refused reports whether a moment is an attempt that a gate refused.
func (m Moment) Refused() bool {
	return m.Type == "gate.closed" && strings.HasPrefix(m.Text, m.Step+" refused")
}

// Read reports whether a moment is a reading that came to something.
func (m Moment) Read() bool {
	return m.Type == "probe.end" && (m.Text == m.Step+" ok" || strings.HasPrefix(m.Text, m.Step+" ok:"))
}
