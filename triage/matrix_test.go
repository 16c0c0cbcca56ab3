package triage

import (
	"slices"
	"testing"
	"time"
)

// TestMatrixLeads: the action of the row says which gate comes first, and a runbook that
// gives a reason goes its own way.
func TestMatrixLeads(t *testing.T) {
	t.Parallel()
	const wrong, right = "demo/wrong", "demo/right"
	plan := func(departs string, rows ...int) Plan {
		p := demoPlan()
		p.Matrix, p.Rows, p.Departs = rows[0], rows, departs
		p.Steps = slices.DeleteFunc(p.Steps, func(st PlanStep) bool {
			return st.Kind == GateStep || st.ID == page || st.ID == heavy || st.ID == extra || st.ID == diff
		})
		i := slices.IndexFunc(p.Steps, func(st PlanStep) bool { return st.Phase == Verify })
		p.Steps = slices.Insert(p.Steps, i, PlanStep{ID: wrong, Phase: Recover, Kind: GateStep, Class: Repair, Uses: "kube/patch"},
			PlanStep{ID: right, Phase: Recover, Kind: GateStep, Class: Release, Uses: "terraform/force-unlock"})
		return p
	}
	for name, tc := range map[string]struct {
		p       Plan
		want    string
		departs bool
		why     string
	}{
		"the row":                {plan("", 8), right, false, ""},
		"with a reason":          {plan("it burns", 8), wrong, true, "it burns"},
		"a row that begins so":   {plan("", 11), wrong, false, ""},
		"the first that is left": {plan("", 5, 8), right, false, ""}, // row 5 expects no mutation
		"no row is left":         {plan("", 5), wrong, false, ""},
	} {
		s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, tc.p, begin(lock), read(lock, 1, "ok", "true"),
			Answer{Step: holder, Value: "dead", How: "looked"}, concluded(TopicMutation, "yes"), concluded(TopicClass, partial), concluded(TopicConsistent, "no"))
		all := Options(s, s.Updated.Add(time.Second), func(string) []Verdict { return good("x") })
		i := slices.IndexFunc(all, func(o Option) bool { return o.Recommended })
		if i < 0 || all[i].Step != tc.want {
			t.Errorf("%s: the loop wants %+v, want %s", name, all[i], tc.want)
			continue
		}
		a, ok := s.Advice(tc.want)
		if ok != (name != "no row is left") || a.Departs != tc.departs || a.Why != tc.why {
			t.Errorf("%s: %s gets %+v, %v", name, tc.want, a, ok)
		}
	}
}

// TestAcceptedProposalsLeaveNoRowAgainstThem: whatever of its own the call accepted, no row
// is shown that says otherwise.
func TestAcceptedProposalsLeaveNoRowAgainstThem(t *testing.T) {
	t.Parallel()
	for n := range MatrixRows() {
		for m := range MatrixRows() {
			for _, mutation := range []string{"yes", "no", Unknown} {
				for _, consistent := range []string{"yes", "no", Unknown} {
					p := demoPlan()
					p.Matrix, p.Rows = n+1, []int{n + 1, m + 1}
					s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, p,
						Conclude{Topic: TopicMutation, Value: mutation, Proposed: mutation}, Conclude{Topic: TopicConsistent, Value: consistent, Proposed: consistent})
					for _, c := range s.Topics {
						if c.Contradicts != "" {
							t.Fatalf("rows %d and %d: %s", n+1, m+1, c.Contradicts)
						}
					}
					if r, ok := s.Preferred(); ok && (r.contradicts(TopicMutation, mutation) != "" || r.contradicts(TopicConsistent, consistent) != "") {
						t.Fatalf("row %d is preferred with mutation %s and consistent %s", r.Number, mutation, consistent)
					}
				}
			}
		}
	}
}

// TestOneRowThatAgreesIsEnough: of several rows any may be the case at hand.
func TestOneRowThatAgreesIsEnough(t *testing.T) {
	t.Parallel()
	p := demoPlan()
	p.Rows = []int{7, 1}
	s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, p)
	for value, against := range map[string]bool{"no": false, "yes": false} {
		if got := tell(t, s, concluded(TopicMutation, value)).Topics[TopicMutation].Contradicts; (got != "") != against {
			t.Errorf("mutation %s: %q", value, got)
		}
	}
	p.Rows = []int{7, 12}
	s = tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, p)
	if tell(t, s, concluded(TopicMutation, "no")).Topics[TopicMutation].Contradicts == "" {
		t.Error("both rows expect a mutation, and neither says so")
	}
	refused(t, State{Incident: "i1"}, Plan{Runbook: "x", Rows: []int{14}})
}

// TestRowOfAnotherDomain: what the matrix says of a GitOps controller is said only where
// the call found the failure there, and of a corrupted state not where the tool failed.
func TestRowOfAnotherDomain(t *testing.T) {
	t.Parallel()
	for row, domains := range map[int]map[string]bool{
		10: {"": true, Unknown: true, "gitops-controller": true, "kubernetes-api": false, "plan-engine": false},
		9:  {"": true, Unknown: true, "state-backend": true, "gitops-controller": true, "plan-engine": false},
	} {
		p := demoPlan()
		p.Matrix = row
		for domain, want := range domains {
			s := tell(t, State{}, Open{Incident: "i1", Title: "stuck", Severity: Sev3}, p)
			if domain != "" {
				s = tell(t, s, concluded(TopicDomain, domain))
			}
			s = tell(t, s, Conclude{Topic: TopicConsistent, Value: "yes"})
			if got := s.Topics[TopicConsistent].Contradicts != ""; got != want {
				t.Errorf("domain %q: row %d speaks against consistent yes: %v, want %v", domain, row, got, want)
			}
			s = tell(t, s, Conclude{Topic: TopicConsistent, Value: "no"})
			if _, got := s.Preferred(); got != want {
				t.Errorf("domain %q: row %d is preferred: %v, want %v", domain, row, got, want)
			}
		}
	}
}
