package cluster

import (
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

func TestServersClock(t *testing.T) {
	t.Parallel()
	server := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name string
		date time.Time
		ours time.Time
		why  string
	}{
		{"never heard", time.Time{}, server, "did not say"},
		{"agree", server, server.Add(time.Second), ""},
		{"ours is ahead", server, server.Add(time.Hour), "differ by 1h0m0s"},
		{"ours is behind", server, server.Add(-time.Hour), "differ by 1h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := &Client{notes: &responseNotes{date: tc.date, at: time.Now()}, Env: steps.Env{Now: func() time.Time { return tc.ours }}}
			got, why := c.Now()
			if (why == "") != (tc.why == "") || !strings.Contains(why, tc.why) || why == "" && !got.Equal(server) {
				t.Errorf("now() = %v, %q; want %v, %q", got, why, server, tc.why)
			}
		})
	}
}
