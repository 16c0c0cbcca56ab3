package triage

import (
	"strings"
	"testing"
)

const works, asked = "demo/works", "demo/asked"

// verified is a story whose watch is green, with a question of verify that is
// required and one that is not.
func verified(green ...string) []Body {
	p := demoPlan()
	answers := []string{"works", "broken", "none"}
	p.Steps = append(p.Steps,
		PlanStep{ID: works, Phase: Verify, Kind: AskStep, Required: true, Answers: answers, Green: green},
		PlanStep{ID: asked, Phase: Verify, Kind: AskStep, Answers: answers, Green: green})
	out := append([]Body{}, ready()...)
	out[1] = p
	out = append(out, concluded(TopicConsistent, "yes"), concluded(TopicClass, "LiveStateDiverged"))
	return append(out, ProbeStart{Step: clean, N: 1}, watched(1, "true"), ProbeStart{Step: clean, N: 2}, watched(2, "true"))
}

func closes(s State) []Refusal {
	for _, o := range Options(s, s.Updated, nil) {
		if o.Kind == DoClose && o.Value == "recovered" {
			return o.Refusals
		}
	}
	return nil
}

// TestVerificationCountsByItsAnswer: an incident is not closed as recovered over the
// word that it is not, whether or not the question had to be asked.
func TestVerificationCountsByItsAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		required, other string
		open            bool
	}{
		{"works", "", true}, {"none", "", true}, {"works", "works", true}, {"works", "none", true},
		{"", "", false}, {"broken", "", false}, {Unknown, "", false},
		{"works", "broken", false}, {"works", Unknown, false},
	} {
		s := tell(t, State{}, verified("works", "none")...)
		if tc.required != "" {
			s = tell(t, s, Answer{Step: works, Value: tc.required})
		}
		if tc.other != "" {
			s = tell(t, s, Answer{Step: asked, Value: tc.other})
		}
		if rs := closes(s); (len(rs) == 0) != tc.open {
			t.Errorf("%+v: %+v", tc, rs)
		}
		if _, err := Fold(s, next(s, Close{Outcome: "recovered"})); (err == nil) != tc.open {
			t.Errorf("%+v: Fold = %v", tc, err)
		}
		tell(t, s, Close{Outcome: "open"})
	}
}

// TestDenialIsWaivedByName, and only by a word that came after it.
func TestDenialIsWaivedByName(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(verified("works"), Answer{Step: works, Value: "works"})...)
	early := tell(t, s, Waive{Law: 8, Subject: asked, Person: "ada", Why: "no time"}, Answer{Step: asked, Value: "broken"})
	if rs := closes(early); len(rs) != 1 || !strings.Contains(rs[0].Why, "answered broken") {
		t.Fatalf("a waiver from before the answer counts: %+v", rs)
	}
	late := tell(t, early, Waive{Law: 8, Subject: asked, Person: "ada", Why: "another incident"})
	if rs := closes(late); len(rs) > 0 {
		t.Errorf("%+v", rs)
	}
	tell(t, early, Answer{Step: asked, Value: "works"}, Close{Outcome: "recovered"})
	acted := tell(t, early, shown(unlock, Release), answered(unlock), start(unlock), end(unlock, "done"))
	for name, s := range map[string]State{"answered": early, "to be asked anew": acted} {
		if bad := refused(t, s, Skip{Step: asked, Why: "enough"}); !strings.Contains(bad.Why, asked) {
			t.Errorf("%s: %s", name, bad.Why)
		}
	}
	tell(t, s, Skip{Step: asked, Why: "does not apply"}, Close{Outcome: "recovered"})
}

// TestActAsksAnew: what was answered before an act proves nothing after it.
func TestActAsksAnew(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(verified("works"), Answer{Step: works, Value: "works"})...)
	s = tell(t, s, shown(unlock, Release), answered(unlock), start(unlock), end(unlock, "done"))
	s = tell(t, s, ProbeStart{Step: clean, N: 3}, watched(3, "true"), ProbeStart{Step: clean, N: 4}, watched(4, "true"))
	if bad := refused(t, s, Close{Outcome: "recovered"}); !strings.Contains(bad.Why, works) {
		t.Errorf("refused because %q", bad.Why)
	}
	tell(t, s, Answer{Step: works, Value: "works"}, Close{Outcome: "recovered"})
}

// TestOldPlanTakesItsFirstAnswer: a journal that was closed folds as it did, and one
// that is still open takes only the first answer of a question for green.
func TestOldPlanTakesItsFirstAnswer(t *testing.T) {
	t.Parallel()
	for answer, open := range map[string]bool{"works": true, "none": false, "broken": false} {
		s := tell(t, State{}, append(verified(), Answer{Step: works, Value: answer})...)
		if rs := closes(s); (len(rs) == 0) != open {
			t.Errorf("%s: %+v", answer, rs)
		}
		if r := Check(s, Intent{Kind: DoClose, Value: "recovered"}, s.Updated, nil); (r == nil) != open {
			t.Errorf("%s: Check = %v", answer, r)
		}
		tell(t, s, Close{Outcome: "recovered"})
		waived := tell(t, s, Waive{Law: 8, Subject: works, Person: "ada", Why: "it is so"})
		if rs := closes(waived); len(rs) > 0 {
			t.Errorf("%s, waived: %+v", answer, rs)
		}
	}
}

// TestVerifyFindsAgainstClosing: a read of verify counts by what it found, too.
func TestVerifyFindsAgainstClosing(t *testing.T) {
	t.Parallel()
	s := tell(t, State{}, append(verified("works"), Answer{Step: works, Value: "works"})...)
	found := watched(3, "true")
	found.Findings = []Finding{{Level: "critical", Say: "it came back", Against: []string{Closing}}}
	s = tell(t, s, ProbeStart{Step: clean, N: 3}, found)
	if bad := refused(t, s, Close{Outcome: "recovered"}); !strings.Contains(bad.Why, "it came back") {
		t.Errorf("refused because %q", bad.Why)
	}
	tell(t, s, ProbeStart{Step: clean, N: 4}, watched(4, "true"), Close{Outcome: "recovered"})
	tell(t, s, Waive{Law: LawNone, Subject: clean, Findings: []string{"it came back"}, Person: "ada", Why: "a stranger's"}, Close{Outcome: "recovered"})
	tell(t, s, Close{Outcome: "open"})
}
