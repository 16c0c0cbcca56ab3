package inject

import (
	"strings"
	"testing"
	"time"
)

// TestFilled: a file that is filled holds times of now, and a slip is an error.
func TestFilled(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 0, 0, 7, time.FixedZone("", 2*3600))
	got, err := filled([]byte("${namespace} ${now} ${now-25m} ${now+1h30m} ${today} ${today+3d} ${today-1d}"), "drill-1", now)
	if want := "drill-1 2026-03-10T10:00:00Z 2026-03-10T09:35:00Z 2026-03-10T11:30:00Z 2026-03-10 2026-03-13 2026-03-09"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, slip := range []string{"${}", "${later}", "${now-25}", "${today+3h}", "${namespace-1d}"} {
		if got, err := filled([]byte(slip), "n", now); err == nil || !strings.Contains(err.Error(), slip) {
			t.Errorf("%s: %q, %v", slip, got, err)
		}
	}
}
