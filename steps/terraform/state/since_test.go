package state

import (
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
)

// TestWritesSince: what was written in the very second of a moment may have come before or
// after it, where a backend keeps whole seconds.
func TestWritesSince(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 2, 14, 0, 500e6, time.UTC)
	for _, tc := range []struct {
		written time.Time
		want    int64
		known   bool
	}{
		{at.Add(time.Second), 1, true},
		{at.Add(time.Millisecond), 1, true},
		{at.Truncate(time.Second), 0, false},
		{at.Add(-time.Second), 0, true},
	} {
		f := steps.NewFacts([]steps.Field{{Name: "writes_since", Type: steps.Int}})
		since(backend.VersionList{Kept: true, List: []backend.Version{{Written: tc.written}}}, steps.Params{"since": steps.TimeOf(at)}, f, &steps.Observation{})
		if v := f.Rest("not told")["writes_since"]; v.Known() != tc.known || tc.known && v.Int() != tc.want {
			t.Errorf("written at %s: %v", tc.written, v)
		}
	}
}
