package triage

import (
	"slices"
	"strings"
	"testing"
)

func coveringPlan(runbook string) Plan {
	id := func(step string) string { return runbook + "/" + step }
	return Plan{Runbook: runbook, Title: runbook, Digest: "p1", Matrix: 7, Steps: []PlanStep{
		{ID: id("lock"), Phase: Preserve, Kind: ProbeStep, Required: true, Covers: []string{"E9", "E10"}},
		{ID: id("state"), Phase: Preserve, Kind: ProbeStep, Required: true, Covers: []string{"E8"}},
		{ID: id("log"), Phase: Preserve, Kind: ProbeStep, Covers: []string{"E3", "E11"}},
		{ID: id("run"), Phase: Preserve, Kind: AskStep, Answers: []string{"seen"}, Covers: []string{"E1", "E3"}},
		{ID: id("events"), Phase: Mutation, Kind: ProbeStep, Covers: []string{"E12"}},
	}}
}

func standing(t *testing.T, s State, item string) Covered {
	t.Helper()
	list := Coverage(s)
	i := slices.IndexFunc(list, func(c Covered) bool { return c.Item == item })
	if i < 0 {
		t.Fatalf("Coverage says nothing of %s", item)
	}
	return list[i]
}

func TestCoverageTellsHowEachItemStands(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, coveringPlan("a"),
		ProbeStart{Step: "a/lock", N: 1}, ProbeEnd{Step: "a/lock", N: 1, Outcome: "ok", Gaps: []string{"no events"}},
		ProbeStart{Step: "a/state", N: 1}, ProbeEnd{Step: "a/state", N: 1, Outcome: "denied", Summary: "403"},
		Waive{Law: 1, Subject: "a/state", Person: "ana", Why: "the account is gone"},
		Skip{Step: "a/log", Why: "rotated away"},
		ProbeStart{Step: "a/events", N: 1}, ProbeEnd{Step: "a/events", N: 1, Outcome: "timeout", Summary: "no answer"},
		Answer{Step: "a/run", Value: "seen", How: "in the forge"})
	tests := []struct {
		item string
		want Standing
		step string
		who  string
		why  string
	}{
		{"E9", Captured, "a/lock", "", "no events"},
		{"E10", Captured, "a/lock", "", ""},
		{"E8", Forgone, "a/state", "ana", "the account is gone"},
		{"E3", Captured, "a/run", "", ""}, // one of two steps is enough
		{"E11", Missing, "a/log", "robot", "rotated away"},
		{"E12", Missing, "a/events", "", "no answer"},
		{"E14", NotApplicable, "", "", ""},
		{"a/lock", Captured, "a/lock", "", ""},
		{"a/state", Forgone, "a/state", "ana", ""},
	}
	for _, tt := range tests {
		got := standing(t, s, tt.item)
		if got.Standing != tt.want || got.Step != tt.step || (tt.who != "" && got.Who != tt.who) || !strings.Contains(got.Why, tt.why) {
			t.Errorf("Coverage of %s = %+v, want %s by %q, who %q, why %q", tt.item, got, tt.want, tt.step, tt.who, tt.why)
		}
		if (got.Standing == Captured || got.Standing == Forgone) && (got.Seq == 0 || got.At.IsZero()) {
			t.Errorf("Coverage of %s names no entry: %+v", tt.item, got)
		}
	}
	const want = "captured E1 E3 E9 E10; waived E8; missing E11 E12; not applicable E2 E4 E5 E6 E7 E13 E14; required captures 1 of 2, 1 waived"
	if got := CoverageLine(Coverage(s)); got != want {
		t.Errorf("CoverageLine = %q, want %q", got, want)
	}
}

// What an earlier runbook captured is in the record; what it left open is not
// asked for any more.
func TestCoverageAcrossPlans(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, coveringPlan("a"),
		ProbeStart{Step: "a/lock", N: 1}, ProbeEnd{Step: "a/lock", N: 1, Outcome: "ok"},
		demoPlan())
	for item, want := range map[string]Standing{"E9": Captured, "E8": NotApplicable, "a/lock": Captured, "demo/lock": Missing} {
		if got := standing(t, s, item); got.Standing != want {
			t.Errorf("Coverage of %s = %+v, want %s", item, got, want)
		}
	}
	if list := Coverage(s); slices.ContainsFunc(list, func(c Covered) bool { return c.Item == "a/state" }) {
		t.Error("a capture that the plan in force does not have is asked for")
	}
}

// A capture that was read and then failed is missing, whatever came before.
func TestCoverageOfAReadThatFailedLater(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, coveringPlan("a"),
		ProbeStart{Step: "a/lock", N: 1}, ProbeEnd{Step: "a/lock", N: 1, Outcome: "ok"}, ProbeStart{Step: "a/lock", N: 2})
	if got := standing(t, s, "E9"); got.Standing != Captured {
		t.Errorf("while it is read again E9 = %+v, want captured", got)
	}
	s = tell(t, s, ProbeEnd{Step: "a/lock", N: 2, Outcome: "failed", Summary: "gone"})
	if got := standing(t, s, "E9"); got.Standing != Missing {
		t.Errorf("after it failed E9 = %+v, want missing", got)
	}
}

func TestCoverageLineHoldsNothingFromOutside(t *testing.T) {
	t.Parallel()
	p := coveringPlan("a")
	p.Steps[0].ID = "a/\x1b]0;owned\a"
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, p)
	if line := CoverageLine(Coverage(s)); strings.ContainsAny(line, "\x1b\a") {
		t.Errorf("CoverageLine = %q", line)
	}
	if len(Coverage(State{})) != 14 {
		t.Errorf("Coverage of nothing has %d items, want 14", len(Coverage(State{})))
	}
}

// TestCapturedItemsAreNotAsked: a person is asked for what no read has captured whole.
func TestCapturedItemsAreNotAsked(t *testing.T) {
	t.Parallel()
	plan := demoPlan()
	plan.Steps = append(plan.Steps, PlanStep{ID: "demo/log", Phase: Preserve, Kind: ProbeStep, Covers: []string{"E11"}},
		PlanStep{ID: "demo/run", Phase: Preserve, Kind: ManualStep, Covers: []string{"E3", "E11"}})
	told := ready()
	told[1] = plan
	s := tell(t, State{}, told...)
	gap := read("demo/log", 1, "ok", "true")
	gap.Gaps = []string{"there is no log"}
	begun := ProbeStart{Step: "demo/log", N: 1}
	for name, tc := range map[string]struct {
		told []Body
		want string
	}{
		"not read":   {nil, "E3 E11"},
		"read":       {[]Body{begun, read("demo/log", 1, "ok", "true")}, "E3"},
		"failed":     {[]Body{begun, read("demo/log", 1, "failed", "true")}, "E3 E11"},
		"with a gap": {[]Body{begun, gap}, "E3 E11"},
		"skipped":    {[]Body{Skip{Step: "demo/log", Why: "no log"}}, "E3 E11"},
	} {
		var got []string
		for _, item := range tell(t, s, tc.told...).Wanted("demo/run") {
			got = append(got, item.Code)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: asked for %v, want %s", name, got, tc.want)
		}
	}
}
