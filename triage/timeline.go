package triage

import (
	"strings"
	"sync/atomic"
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
// what shows it.
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

// Refused reports whether a moment is an attempt of a person that a gate refused. A preview
// that began by itself is none.
func (m Moment) Refused() bool {
	return m.Type == "gate.closed" && strings.HasPrefix(m.Text, m.Step+" refused")
}

// Read reports whether a moment is a reading that came to something.
func (m Moment) Read() bool {
	return m.Type == "probe.end" && (m.Text == m.Step+" ok" || strings.HasPrefix(m.Text, m.Step+" ok:"))
}

// timelog is the storage of a timeline that grows. States share it: each sees
// its own prefix, clipped, so that an append outside this package copies. The
// first fold onto a state claims the next row and writes it in place; a second
// fold onto the same state finds it claimed and copies. So a journal folds in
// linear time, and no state ever sees a row that is not its own.
type timelog struct {
	used atomic.Int64
	rows []Moment
}

// grown returns rows with m at the end, and its storage.
func grown(rows []Moment, log *timelog, m Moment) ([]Moment, *timelog) {
	n := len(rows)
	ours := log != nil && n < len(log.rows) && (n == 0 || &log.rows[0] == &rows[0])
	if !ours || !log.used.CompareAndSwap(int64(n), int64(n+1)) {
		log = &timelog{rows: make([]Moment, max(16, 2*(n+1)))}
		copy(log.rows, rows)
		log.used.Store(int64(n + 1))
	}
	log.rows[n] = m
	return log.rows[: n+1 : n+1], log
}
