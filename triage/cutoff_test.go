package triage

import "testing"

// TestCutOffReadIsOfferedAgain: a crash or a cancel is no attempt, however often
// it comes; two real failures are worth a waiver.
func TestCutOffReadIsOfferedAgain(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[string]IntentKind{"cancelled": DoProbe, "failed": DoWaive, "timeout": DoWaive} {
		s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, demoPlan())
		for n := 1; n <= 3; n++ {
			s = tell(t, s, ProbeStart{Step: lock, N: n}, read(lock, n, outcome, "true"))
		}
		got, ok := stepWant(&s, &s.Steps[0], nil)
		if !ok || got.kind != want || got.step != lock {
			t.Errorf("after three times %s the loop wants %+v, %t, want %s", outcome, got, ok, want)
		}
	}
}
