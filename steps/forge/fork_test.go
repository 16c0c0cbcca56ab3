package forge

import (
	"fmt"
	"testing"
)

// TestForksAreOthers: a pull request from a fork that calls its branch the same is not the one of the branch.
func TestForksAreOthers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		head, base, from, to string
		want                 int64
	}{
		{`{"id":1}`, `{"id":1}`, "1", "1", 7},
		{`{"id":2}`, `{"id":1}`, "2", "1", 0},
		{"null", `{"id":1}`, "null", "1", 0},
		{"null", "null", "null", "null", 7}, // it is not told
	} {
		var got int64
		hub := fmt.Sprintf(`[{"number":7,"head":{"ref":"scale","repo":%s},"base":{"ref":"main","repo":%s}}]`, tc.head, tc.base)
		if _, err := parseHubPulls([]byte(hub), "scale", func(n int64) { got = n }); err != nil || got != tc.want {
			t.Errorf("%s: %d %v, want %d", hub, got, err, tc.want)
		}
		got = 0
		lab := fmt.Sprintf(`[{"iid":7,"source_branch":"scale","source_project_id":%s,"target_project_id":%s}]`, tc.from, tc.to)
		if _, err := parseLabMerges([]byte(lab), "scale", func(n int64) { got = n }); err != nil || got != tc.want {
			t.Errorf("%s: %d %v, want %d", lab, got, err, tc.want)
		}
	}
}
