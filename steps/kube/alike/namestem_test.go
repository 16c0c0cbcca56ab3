package alike

import (
	"testing"

	"handrail/steps/cluster"
)

func TestSameStem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"hook-x7z2k", "hook-b9vtw", true},
		{"backup-28912345", "backup-28912346", true},
		{"migrate-1a2b3c4-presync-1700000000", "migrate", true},
		{"hook-cleanup", "hook-cleanup-decoy", true},
		{"orphan-hook-a", "orphan-hook-b", true},
		{"api-6d4cf56db6-x7z2k", "api", true},
		{"api", "worker", false},
		{"api-one", "api-two", false},
		{"a", "ab", false},
		{"12345", "67890", false},
	} {
		if got := sameStem(tc.a, tc.b); got != tc.want || sameStem(tc.b, tc.a) != tc.want {
			t.Errorf("sameStem(%q, %q) = %v, want %v (stems %q, %q)", tc.a, tc.b, got, tc.want, nameStem(tc.a), nameStem(tc.b))
		}
	}
}

// TestUniversalLabel: what all bear tells nothing, once there are enough.
func TestUniversalLabel(t *testing.T) {
	t.Parallel()
	for _, n := range []int{enoughToTell - 1, enoughToTell} {
		var all []cluster.Object
		for i := range n {
			labels := fields{"all": "x"}
			if i < 3 {
				labels["three"] = "y"
			}
			name := string(rune('a' + i))
			all = append(all, objectFrom(t, fields{"metadata": fields{"name": name, "uid": name, "labels": labels}}))
		}
		a := newAlike(all[0])
		for _, o := range all {
			a.see(o)
		}
		want := n - 1
		if n >= enoughToTell {
			want = 2
		}
		if got := a.found(); len(got) != want {
			t.Errorf("of %d: %d look-alikes %v, want %d", n, len(got), got, want)
		}
	}
}
