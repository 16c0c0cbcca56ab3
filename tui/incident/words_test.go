package incident

import (
	"testing"
	"time"

	"handrail/triage"
)

// TestUntil: a refusal that only time meets is said with its time of day and how long
// that is, and one that needs more than time never as if waiting were enough.
func TestUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 17, 26, 0, 0, time.UTC)
	timed := func(after time.Duration) triage.Refusal {
		return triage.Refusal{Why: "the lock is 2m old", At: now.Add(after)}
	}
	for _, tc := range []struct {
		of   []triage.Refusal
		want string
	}{
		{nil, ""},
		{[]triage.Refusal{{Why: "it is alive"}}, ""},
		{[]triage.Refusal{timed(28 * time.Minute)}, "Refused until 17:54:00Z (in 28m 00s); then read it again."},
		{[]triage.Refusal{timed(time.Minute), timed(28 * time.Minute)}, "Refused until 17:54:00Z (in 28m 00s); then read it again."},
		{[]triage.Refusal{timed(28 * time.Minute), {Why: "it is alive"}}, "Not before 17:54:00Z (in 28m 00s), and the rest is needed too."},
		{[]triage.Refusal{timed(-time.Minute)}, "The wait ended at 17:25:00Z: read it again."},
	} {
		if got := string(Until(now, tc.of)); got != tc.want {
			t.Errorf("Until(%+v) = %q, want %q", tc.of, got, tc.want)
		}
	}
}
