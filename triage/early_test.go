package triage

import "testing"

// TestWatchWaitsForWhatIsRead: a watch that stands on what is being read is not what comes next, nor
// is anything behind it: its sample would be unknown, and undo what was concluded.
func TestWatchWaitsForWhatIsRead(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i", Severity: Sev3}, Plan{Runbook: "demo", Title: "Demo", Digest: "p1", Matrix: 7, Steps: []PlanStep{
		{ID: "demo/after", Phase: Preserve, Kind: ProbeStep, Required: true, Heavy: true},
		{ID: "demo/quiet", Phase: Preserve, Kind: WatchStep, Required: true, Refs: []string{"demo/after"}, Greens: 1}}})
	next := func(s State) string {
		for _, o := range Options(s, s.Updated, func(string) []Verdict { return good("ok") }) {
			if o.Recommended {
				return string(o.Kind) + " " + o.Step
			}
		}
		return ""
	}
	for _, tc := range []struct {
		body Body
		want string
	}{
		{ProbeStart{Step: "demo/after", N: 1, Kind: "plan"}, ""},
		{ProbeEnd{Step: "demo/after", N: 1, Outcome: "ok"}, "probe demo/quiet"},
	} {
		if s = tell(t, s, tc.body); next(s) != tc.want {
			t.Errorf("after %T comes %q, want %q", tc.body, next(s), tc.want)
		}
	}
}
