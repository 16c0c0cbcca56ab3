package triage

import (
	"strings"
	"testing"
	"time"
)

// reviewed folds a review of two questions.
func reviewed(t *testing.T, bodies ...Body) (State, error) {
	t.Helper()
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	all := append([]Body{
		Open{Incident: "i", Title: "t", Severity: Sev4, Kind: Readiness},
		Plan{Runbook: "r", Title: "t", Digest: "d", Steps: []PlanStep{
			{ID: "r/owned", Title: "Owned?", Phase: Locate, Kind: AskStep, Answers: []string{"yes", "partly", "no", NoSuch}},
			{ID: "r/state", Title: "Kept?", Phase: Locate, Kind: AskStep, Answers: []string{"yes", "partly", "no"}},
		}},
	}, bodies...)
	var st State
	for i, b := range all {
		next, err := Fold(st, Event{Seq: int64(i), At: at.Add(time.Duration(i) * time.Second), Actor: "ada", Body: b})
		if err != nil {
			return st, err
		}
		st = next
	}
	return st, nil
}

// TestHolds: of what was said and what was read the worse counts, and a reading that knows nothing says nothing.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ said, read, want string }{
		{"yes", "", "yes"}, {"yes", Unknown, "yes"}, {"yes", "no", "no"}, {"yes", "partly", "partly"}, {"no", "yes", "no"},
		{"partly", "yes", "partly"}, {"partly", "no", "no"}, {Unknown, "yes", "yes"}, {Unknown, "no", "no"}, {Unknown, Unknown, Unknown},
		{Unknown, "", Unknown}, {"", "yes", ""}, {"no", Unknown, "no"}, {"yes", "yes", "yes"},
		{NoSuch, "", NoSuch}, {NoSuch, "partly", NoSuch},
	} {
		if got := (Step{Answer: tc.said, Proposed: tc.read}).Holds(); got != tc.want {
			t.Errorf("said %q and read %q holds %q, want %q", tc.said, tc.read, got, tc.want)
		}
	}
}

// TestReviewOwes: whatever does not hold owes an owner and a date, and what was read against a yes does too.
func TestReviewOwes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ said, read, owes string }{
		{"yes", "", ""}, {"yes", Unknown, ""}, {"no", "", "close the gap"}, {"partly", "", "close the gap"}, {Unknown, "", "find out"}, {"yes", "no", "close the gap"},
		{NoSuch, "", ""}, {NoSuch, "partly", ""},
	} {
		st, err := reviewed(t, Answer{Step: "r/owned", Value: tc.said, Proposed: tc.read})
		if err != nil {
			t.Fatal(err)
		}
		d, ok := st.Owing()
		if ok != (tc.owes != "") || !strings.HasPrefix(d.Text, tc.owes) || ok && d.Kind != "owned" {
			t.Errorf("said %q and read %q owes %+v, %t, want %q", tc.said, tc.read, d, ok, tc.owes)
		}
	}
}

// TestReviewCloses: only with every question answered and every gap carried.
func TestReviewCloses(t *testing.T) {
	t.Parallel()
	no, yes := Answer{Step: "r/owned", Value: "no"}, Answer{Step: "r/state", Value: "yes"}
	gap := DebtOpened{ID: "owned", Kind: "owned", Of: "r/owned", Text: "close the gap"}
	carried := Settle{Debt: "owned", How: "carried", Owner: "ada", Until: "2026-12-01"}
	end := Close{Outcome: Reviewed}
	for name, tc := range map[string]struct {
		bodies []Body
		why    string // why it does not fold, "" where it does
	}{
		"whole":                            {[]Body{no, gap, yes, carried, end}, ""},
		"one is not asked":                 {[]Body{no, gap, carried, end}, "has no answer"},
		"no owner":                         {[]Body{no, gap, yes, end}, "no owner and no date"},
		"no gap recorded":                  {[]Body{no, yes, end}, "no owner and no date"},
		"no date":                          {[]Body{no, gap, yes, Settle{Debt: "owned", How: "carried", Owner: "ada", Until: "soon"}}, "a date"},
		"waived":                           {[]Body{no, gap, yes, Settle{Debt: "owned", How: "waived", Person: "ada", Why: "later"}, end}, "was waived"},
		"not as recovered":                 {[]Body{no, gap, yes, carried, Close{Outcome: "recovered"}}, "not an outcome"},
		"the answer changes":               {[]Body{no, gap, yes, Answer{Step: "r/owned", Value: "yes", How: "found"}, end}, ""},
		"a yes that reads no does not pay": {[]Body{no, gap, yes, Answer{Step: "r/owned", Value: "yes", Proposed: "no"}, end}, "no owner and no date"},
		"a debt of nothing":                {[]Body{DebtOpened{ID: "x", Kind: "resume", Of: "r/owned", Text: "x"}}, "none of them"},
		"a gate":                           {[]Body{Plan{Runbook: "g", Title: "g", Digest: "g", Steps: []PlanStep{{ID: "g/a", Phase: Recover, Kind: GateStep, Class: Release, Title: "x"}}}}, "changes nothing"},
		"a component twice":                {[]Body{Component{Name: "a"}, Component{Name: "a"}}, "stated already"},
		"a component of none":              {[]Body{Component{}}, "no name"},
	} {
		_, err := reviewed(t, tc.bodies...)
		if (err == nil) != (tc.why == "") || err != nil && !strings.Contains(err.Error(), tc.why) {
			t.Errorf("%s: %v, want %q", name, err, tc.why)
		}
	}
}

// TestIncidentIsNoReview: neither the outcome nor the components of a review fit an incident.
func TestIncidentIsNoReview(t *testing.T) {
	t.Parallel()
	open := Event{Seq: 1, Body: Open{Incident: "i", Title: "t", Severity: Sev3}}
	st, err := Fold(State{}, open)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []Body{Close{Outcome: Reviewed}, Component{Name: "a"}} {
		if _, err := Fold(st, Event{Seq: 2, Body: b}); err == nil {
			t.Errorf("an incident took %+v", b)
		}
	}
	if _, err := Fold(State{}, Event{Seq: 1, Body: Open{Incident: "i", Title: "t", Severity: Sev3, Kind: "party"}}); err == nil {
		t.Error("a bundle of kind party was opened")
	}
}
