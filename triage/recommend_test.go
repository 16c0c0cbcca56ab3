package triage

import (
	"strings"
	"testing"
)

// toRepair is a state in which only the gates of recover are left.
func toRepair(t *testing.T, plan Plan) State {
	t.Helper()
	return tell(t, State{}, Open{Incident: "i", Severity: Sev3}, plan, begin(lock), read(lock, 1, "ok", "true"), begin(heavy), read(heavy, 1, "ok", "true"),
		begin(extra), read(extra, 1, "ok", "true"), Answer{Step: holder, Value: "dead", How: "looked"}, concluded(TopicMutation, "yes"),
		begin(diff), read(diff, 1, "ok", "true"), concluded(TopicConsistent, "no"), concluded(TopicClass, "LiveStateDiverged"),
		Manual{Step: page, Proof: "paged"}, Skip{Step: pause, Why: "no controller"}, Skip{Step: unlock, Why: "free"})
}

// TestUngivenParameterIsAskedFor: the loop asks for the parameter that alone keeps a gate
// shut, and goes past a gate that wants something else as well.
func TestUngivenParameterIsAskedFor(t *testing.T) {
	t.Parallel()
	s := toRepair(t, demoPlan())
	patch := Verdict{Expr: "params.patch != ''", Result: "false", Why: "There is no patch yet.", Params: []string{"patch"}}
	other := Verdict{Expr: "answers.right == 'known'", Result: "false", Why: "It is not confirmed."}
	for _, tc := range []struct {
		name     string
		verdicts []Verdict
		want     string
	}{
		{"given", good("ok"), "preview " + fix},
		{"not given", []Verdict{patch}, "plan " + fix + " demo"},
		{"not given, and not confirmed", []Verdict{patch, other}, "preview " + again},
		{"not given, and it does not apply", []Verdict{{Expr: "true", Result: "false", Aside: true}, patch}, "preview " + again},
	} {
		judge := func(step string) []Verdict {
			if step == fix {
				return tc.verdicts
			}
			return good("ok")
		}
		if got := strings.Join(strings.Fields(recommended(s, judge)), " "); got != tc.want {
			t.Errorf("%s: recommended %q, want %q", tc.name, got, tc.want)
		}
		if tc.want != "plan "+fix+" demo" {
			continue
		}
		in := Intent{Kind: DoPreview, Step: fix}
		r := Check(s, in, s.Updated, judge)
		if r == nil || r.Refusals[0].Cure != "Give the parameter patch." {
			t.Errorf("%s: %v, want the parameter as what would meet it", tc.name, r)
		}
	}
}

// TestStepByHandIsWanted: what the author of a runbook wants done by hand under a
// condition comes up where that is so, and nowhere else.
func TestStepByHandIsWanted(t *testing.T) {
	t.Parallel()
	const byHand = "demo/by_hand"
	plan := demoPlan()
	for i, st := range plan.Steps {
		if st.ID == fix {
			plan.Steps = append(plan.Steps[:i:i], append([]PlanStep{{ID: byHand, Phase: Recover, Kind: ManualStep}}, plan.Steps[i:]...)...)
			break
		}
	}
	s := toRepair(t, plan)
	for result, want := range map[string]string{"true": "manual " + byHand, "false": "preview " + fix, "unknown": "preview " + fix} {
		judge := func(step string) []Verdict {
			if step == byHand {
				return []Verdict{{Expr: "facts.x", Result: result, Aside: true}}
			}
			return good("ok")
		}
		if got := strings.Join(strings.Fields(recommended(s, judge)), " "); got != want {
			t.Errorf("its condition is %s: recommended %q, want %q", result, got, want)
		}
	}
}
