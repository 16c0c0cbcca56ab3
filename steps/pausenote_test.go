package steps

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestPauseNote: what an object says of its pause is read a line each, and a time that cannot be read is none.
func TestPauseNote(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		notes   map[string]string
		has     bool
		overdue bool
		say     string
	}{
		"none":          {nil, false, false, ""},
		"of another":    {map[string]string{"example.com/paused-until": "2026-11-27T11:00:00Z"}, false, false, ""},
		"over":          {map[string]string{PauseIncident: "i-1", PauseUntil: "2026-11-27T11:59:59Z", PauseWhy: "a hook"}, true, true, "in incident i-1 until 2026-11-27T11:59:59Z: a hook"},
		"to the second": {map[string]string{PauseUntil: "2026-11-27T12:00:00Z"}, true, false, "until 2026-11-27T12:00:00Z"},
		"no time":       {map[string]string{PauseUntil: "tomorrow", PauseWhy: "a hook"}, true, false, "a hook"},
		"hostile":       {map[string]string{PauseWhy: "a\x1b[2J\nb\u202ec" + strings.Repeat("x", 400)}, true, false, ""},
	} {
		n, has := PauseNoteOf(tc.notes)
		if has != tc.has || n.Overdue(now) != tc.overdue || tc.say != "" && n.String() != tc.say {
			t.Errorf("%s: %q, there %v, overdue %v", name, n, has, n.Overdue(now))
		}
	}
}

// FuzzPauseNote: whatever stands on an object, a note is one printable line of bounded length.
func FuzzPauseNote(f *testing.F) {
	f.Add("i-1", "2026-11-27T12:00:00Z", "a\x1b]0;x\x07")
	f.Fuzz(func(t *testing.T, in, until, why string) {
		n, _ := PauseNoteOf(map[string]string{PauseIncident: in, PauseUntil: until, PauseWhy: why})
		if say := n.String(); strings.ContainsFunc(say, func(r rune) bool { return !unicode.IsPrint(r) }) || len(say) > 3*mostNote {
			t.Errorf("%q", say)
		}
	})
}
