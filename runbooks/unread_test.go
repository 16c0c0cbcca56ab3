package runbooks

import (
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// TestUnreadSubject: what a question is about must have been read. Of a plan that was
// never made nothing is approved.
func TestUnreadSubject(t *testing.T) {
	t.Parallel()
	b := bookOf(t, "stale-plan")
	for _, step := range []string{"approved", "policy_again"} {
		// Whether it is asked at all is a verdict of its own.
		about := func(v Vars) []triage.Verdict {
			return slices.DeleteFunc(b.Judge(step, v), func(v triage.Verdict) bool { return v.Aside })
		}
		got := about(Vars{})
		if len(got) != 1 || got[0].Result != resUnknown || !got[0].Unread || !slices.Equal(got[0].Missing, []string{"facts.fresh.digest"}) || !strings.Contains(got[0].Why, "was not read") {
			t.Errorf("Judge(%s) = %+v without a plan", step, got)
		}
		v := Vars{Facts: map[string]map[string]steps.Value{"fresh": {"digest": steps.IdentOf("d1")}}}
		if got := about(v); len(got) != 0 {
			t.Errorf("Judge(%s) = %+v with one", step, got)
		}
		v.Stale = map[string]string{"fresh": "read an hour ago"}
		if got := about(v); len(got) != 0 {
			t.Errorf("Judge(%s) = %+v with an old one", step, got)
		}
	}
	if st, _ := b.Step("fresh"); !st.Required {
		t.Error("the plan that is asked about is not required")
	}
	for _, st := range b.Plan(nil).Steps {
		if want := []string{"stale-plan/fresh.digest"}; st.ID == "stale-plan/approved" && !slices.Equal(st.About, want) {
			t.Errorf("About = %v, want %v", st.About, want)
		}
	}
	// A capture waits for nothing.
	if got := bookOf(t, "state-lock").Judge("ci_run", Vars{}); slices.ContainsFunc(got, func(v triage.Verdict) bool { return v.Result != resTrue }) {
		t.Errorf("Judge(ci_run) = %+v", got)
	}
}

// TestApprovedPlanIsAskedAfterItWasRead: in every runbook what asks for the approval of a
// digest names the digest, so that it is asked of a plan that is there.
func TestApprovedPlanIsAskedAfterItWasRead(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		for _, p := range b.Plan(nil).Steps {
			asks := p.Kind == triage.AskStep || p.Kind == triage.ManualStep
			if asks && p.Phase == triage.Recover && strings.Contains(p.Title, "digest") && len(p.About) == 0 {
				t.Errorf("%s asks for the approval of a digest and does not name it: %q", p.ID, p.Title)
			}
		}
	}
}
