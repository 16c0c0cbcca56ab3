package runbooks

import (
	"strings"
	"testing"

	"handrail/triage"
)

// TestStalePlanMakesTwoPlans: on a walk without a detour, one plan is made to be applied
// and one after it; each question of verify stands on that one.
func TestStalePlanMakesTwoPlans(t *testing.T) {
	t.Parallel()
	b := named(t, "stale-plan")
	var made []string
	for _, st := range b.Steps {
		if (st.Kind == triage.ProbeStep || st.Kind == triage.WatchStep) && (st.Uses == "terraform/plan" || st.Uses == "terraform/saved-plan") {
			made = append(made, st.ID)
		}
	}
	if got := strings.Join(made, " "); got != "fresh after" {
		t.Errorf("plans are made by %q", got)
	}
}
