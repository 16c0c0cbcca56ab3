package triage

import (
	"fmt"
	"slices"
)

// Row is a row of the decision matrix: for one kind of failure, what is
// expected of the two questions, and what to do then. An expectation without
// values expects nothing.
type Row struct {
	Number      int
	Failure     string
	Mutation    Expectation
	Consistency Expectation
	Action      string
}

// Expectation is an answer in words and the values that agree with it.
type Expectation struct {
	Text   string
	Values []string
}

// Matrix returns a row of the decision matrix, from 1 to 13.
func Matrix(row int) (Row, bool) {
	var (
		no       = Expectation{"no", []string{"no"}}
		yes      = Expectation{"yes", []string{"yes"}}
		maybe    = Expectation{Text: "maybe"}
		unknown  = Expectation{Text: "unknown"}
		disagree = func(text string) Expectation { return Expectation{text, []string{"no"}} }
	)
	rows := []Row{
		{1, "syntax or rendering", no, yes, "correct the source"},
		{2, "init or provider download", no, yes, "repair the dependency or the platform"},
		{3, "stale plan", no, yes, "plan again and approve again"},
		{4, "denied by policy", no, yes, "redesign, or a bounded exception"},
		{5, "credentials fail before the apply", no, yes, "repair the identity; retry while the plan is fresh"},
		{6, "apply timed out", maybe, unknown, "read the audit log, the state and the real resources"},
		{7, "created in part", yes, maybe, "reconcile recorded and actual state, then plan"},
		{8, "lock left by a crash", maybe, maybe, "prove that no run is alive, then unlock"},
		{9, "state corrupted", maybe, disagree("no"), "freeze, then restore or repair the state"},
		{10, "Argo CD out of sync", Expectation{Text: "the controller may have tried"}, disagree("live drift"), "classify the diff; sync, or reconcile Git"},
		{11, "denied by admission", Expectation{Text: "usually nothing persisted"}, disagree("desired is invalid"), "correct the object or the policy"},
		{12, "bad secret delivered", yes, disagree("live is bad"), "restore the secret or roll it forward, then verify"},
		{13, "manual hotfix", yes, disagree("Git drifted"), "reconciliation pull request"},
	}
	if row < 1 || row > len(rows) {
		return Row{}, false
	}
	return rows[row-1], true
}

// contradicts says what the row expects of a topic instead of value, "" for no
// contradiction. Unknown contradicts nothing.
func (r Row) contradicts(t Topic, value string) string {
	want := r.Mutation
	switch t {
	case TopicMutation:
	case TopicConsistent:
		want = r.Consistency
	default:
		return ""
	}
	if value == Unknown || len(want.Values) == 0 || slices.Contains(want.Values, value) {
		return ""
	}
	return fmt.Sprintf("for %q (row %d) the matrix expects %s %s", r.Failure, r.Number, t, want.Text)
}
