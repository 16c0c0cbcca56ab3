package triage

import (
	"testing"
	"time"
)

// TestDay: a day is taken as people say it.
func TestDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC) // a Friday
	for s, want := range map[string]string{"2026-12-01": "2026-12-01", "friday": "2026-11-27", "Mon": "2026-11-23", "tomorrow": "2026-11-21",
		"+7d": "2026-11-27", "+2w": "2026-12-04", " sat ": "2026-11-21",
		"": "", "7d": "", "+d": "", "+0d": "", "+-1d": "", "fr": "", "fridays": "", "soon": "", "2026-13-01": "", "+5000d": ""} {
		if got, ok := Day(s, now); got != want || ok != (want != "") {
			t.Errorf("Day(%q) = %q, %t, want %q", s, got, ok, want)
		}
	}
}
