package report

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTroubles: what a condition says of its object is passed on with its message,
// and a condition that says that all is well is not.
func TestTroubles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		conditions string
		all        bool
		want       string
	}{
		{`[{"type":"Ready","status":"False","reason":"NoBucket","message":"archive has no usable\n bucket"}]`, false, "Ready is False (NoBucket): archive has no usable bucket"},
		{`[{"type":"Ready","status":"True","message":"fine"},{"type":"Stalled","status":"False"},{"type":"Reconciling","status":"True","message":"soon"}]`, false, ""},
		{`[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate"},{"type":"Synced","status":"False"}]`, false, "ReplicaFailure is True (FailedCreate)|Synced is False"},
		{`[{"type":"Deleting","status":"True","message":"waiting for 3 volumes"},{"type":"Quiet","status":"True"}]`, true, "Deleting is True: waiting for 3 volumes"},
		{`{"type":"Ready"}`, false, ""},
		{`[7,{"status":"False"}]`, true, ""},
	} {
		var in any
		if err := json.Unmarshal([]byte(tc.conditions), &in); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Troubles(in, tc.all), "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.conditions, got, tc.want)
		}
	}
}
