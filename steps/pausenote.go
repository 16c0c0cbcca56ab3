package steps

import (
	"strings"
	"time"
	"unicode"
)

// Annotations by which handrail says on a paused object whose pause it is. They are written in the
// request that pauses, and taken away in the one that resumes. kubectl describe and the page of an
// application in Argo CD show them.
const (
	PauseIncident = "handrail/paused-in"    // id of the incident
	PauseWhy      = "handrail/paused-why"   // in a line, as the runbook or the call gives it
	PauseUntil    = "handrail/paused-until" // RFC 3339: when it must be looked at again
)

// mostNote bounds one of them: what is read may come from another program.
const mostNote = 200

// PauseNote is what a paused object says of its pause.
type PauseNote struct {
	Incident, Why string
	Until         time.Time // zero where it does not say, or not in a way that can be read
}

// PauseKeys are the annotations of a note.
func PauseKeys() []string { return []string{PauseIncident, PauseUntil, PauseWhy} }

// PauseNoteOf reads the note of an object. The words are those of its writer: a line each,
// cut, and without what a terminal would act upon.
func PauseNoteOf(annotations map[string]string) (PauseNote, bool) {
	n := PauseNote{Incident: PauseLine(annotations[PauseIncident]), Why: PauseLine(annotations[PauseWhy])}
	if at, err := time.Parse(time.RFC3339, annotations[PauseUntil]); err == nil {
		n.Until = at.UTC()
	}
	return n, n != PauseNote{}
}

// PauseLine is a text as a note holds it.
func PauseLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, " "))
	return OneLine(s, mostNote)
}

// Overdue reports whether a pause should have been looked at by now.
func (n PauseNote) Overdue(now time.Time) bool { return !n.Until.IsZero() && now.After(n.Until) }

// String says it in a line: in incident X until T: why.
func (n PauseNote) String() string {
	var parts []string
	if n.Incident != "" {
		parts = append(parts, "in incident "+n.Incident)
	}
	if !n.Until.IsZero() {
		parts = append(parts, "until "+n.Until.Format(time.RFC3339))
	}
	say := strings.Join(parts, " ")
	if n.Why != "" {
		say += ": " + n.Why
	}
	return strings.TrimPrefix(say, ": ")
}
