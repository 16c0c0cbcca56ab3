package triage

import (
	"fmt"
	"slices"
	"strings"
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

	// First are the transitions that the action begins with: kinds of gates, or
	// ByHand. Without any the action is to read, and a transition departs from it.
	First []string
	// Then are those that may follow.
	Then []string
}

// Expectation is an answer in words and the values that agree with it.
type Expectation struct {
	Text   string
	Values []string
}

// The row of what a GitOps controller manages, and the domain in which it is the case; the row
// of a corrupted state, and the domain in which it is not: what refused there is the tool.
const (
	gitOpsRow    = 10
	gitOpsDomain = "gitops-controller"
	stateRow     = 9
	toolDomain   = "plan-engine"
)

// ByHand is the transition that a person makes outside: a commit, a pull request, a
// new approval, a repaired identity.
const ByHand = "by hand"

// Matrix returns a row of the decision matrix, from 1 to 13.
func Matrix(row int) (Row, bool) {
	rows := MatrixRows()
	if row < 1 || row > len(rows) {
		return Row{}, false
	}
	return rows[row-1], true
}

// MatrixRows lists the decision matrix.
func MatrixRows() []Row {
	var (
		no       = Expectation{"no", []string{"no"}}
		yes      = Expectation{"yes", []string{"yes"}}
		maybe    = Expectation{Text: "maybe"}
		unknown  = Expectation{Text: "unknown"}
		disagree = func(text string) Expectation { return Expectation{text, []string{"no"}} }

		hand    = []string{ByHand}
		apply   = []string{"terraform/apply-plan", "terraform/apply-targeted", "terraform/apply-batches"}
		record  = []string{"terraform/import", "terraform/import-batch", "terraform/state-mv", "terraform/state-rm", "terraform/apply-refresh"}
		restore = append([]string{"terraform/restore-state"}, record...)
		object  = []string{"kube/patch", "kube/create", "kube/recreate"}
		and     = func(lists ...[]string) []string { return slices.Concat(lists...) }
	)
	return []Row{
		{1, "syntax or rendering", no, yes, "correct the source", hand, apply},
		{2, "init or provider download", no, yes, "repair the dependency or the platform", hand, apply},
		{3, "stale plan", no, yes, "plan again and approve again", and(hand, apply), nil},
		{4, "denied by policy", no, yes, "redesign, or a bounded exception", hand, apply},
		{5, "credentials fail before the apply", no, yes, "repair the identity; retry while the plan is fresh", and(hand, apply), nil},
		{6, "apply timed out", maybe, unknown, "read the audit log, the state and the real resources", nil, and(record, apply)},
		{7, "created in part", yes, maybe, "reconcile recorded and actual state, then plan", record, and(hand, apply)},
		{8, "lock left by a crash", maybe, maybe, "prove that no run is alive, then unlock", []string{"terraform/force-unlock"}, and(record, apply)},
		{9, "state corrupted", maybe, disagree("no"), "freeze, then restore or repair the state", restore, and(hand, apply)},
		{10, "Argo CD out of sync", Expectation{Text: "the controller may have tried"}, disagree("live drift"), "classify the diff; sync, or reconcile Git", and(hand, []string{"gitops/sync", "kube/resume"}), object},
		{11, "denied by admission", Expectation{Text: "usually nothing persisted"}, disagree("desired is invalid"), "correct the object or the policy", and(hand, object, []string{"kube/narrow-webhook", "kube/except-policy"}), []string{"kube/resume", "kube/delete", "kube/strip-finalizer"}},
		{12, "bad secret delivered", yes, disagree("live is bad"), "restore the secret or roll it forward, then verify", and(hand, object), []string{"kube/restart", "kube/resume"}},
		{13, "manual hotfix", yes, disagree("Git drifted"), "reconciliation pull request", hand, []string{"gitops/sync", "kube/restart"}},
	}
}

// Begins reports whether the action of the row begins with a transition. To contain
// or to give back what was paused is no departure from any.
func (r Row) Begins(transition string, class Class) bool {
	return class == Contain || resumes(transition) || slices.Contains(r.First, transition)
}

// Holds reports whether a transition is a part of the action of the row at all.
func (r Row) Holds(transition string, class Class) bool {
	return r.Begins(transition, class) || slices.Contains(r.Then, transition)
}

// resumes reports whether a kind of gate gives back what a pause took.
func resumes(kind string) bool { return strings.HasSuffix(kind, "/resume") }

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

// rows are the rows of the matrix that a plan names, the main one first.
func (b Plan) rows() []Row {
	numbers := b.Rows
	if len(numbers) == 0 && b.Matrix != 0 {
		numbers = []int{b.Matrix}
	}
	var out []Row
	for _, n := range numbers {
		if r, ok := Matrix(n); ok {
			out = append(out, r)
		}
	}
	return out
}

// rows are those of the plan in force, without what another domain than the concluded
// one is about: only what a GitOps controller manages is out of sync, and a state that its
// tool cannot read is not corrupted.
func (s *State) rows() []Row {
	c, ok := s.Topics[TopicDomain]
	if !ok || c.Lapsed || c.Value == Unknown {
		return s.Plan().rows()
	}
	return slices.DeleteFunc(s.Plan().rows(), func(r Row) bool {
		return r.Number == gitOpsRow && c.Value != gitOpsDomain || r.Number == stateRow && c.Value == toolDomain
	})
}

// contradiction says what the matrix expects of a topic instead of value: only where
// every row that the plan names does, since any of them may be the case at hand.
func (s *State) contradiction(t Topic, value string) string {
	first := ""
	for _, r := range s.rows() {
		said := r.contradicts(t, value)
		if said == "" {
			return ""
		}
		first = firstOf(first, said)
	}
	return first
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Advice is what the decision matrix says of a transition.
type Advice struct {
	Row
	Departs bool   // the transition is no part of the action
	Why     string // the runbook's own words for departing, "" where it does not or gives none
}

// Line is what the matrix says of a transition, in one line.
func (a Advice) Line() string {
	return fmt.Sprintf("row %d, %s: %s", a.Number, a.Failure, a.Action)
}

// Preferred is the row of the matrix that the call is in: the first that the plan in
// force names and that no final conclusion contradicts. The second result is false where
// there is none: what the evidence of this incident showed, no table of usual cases
// overrules.
func (s State) Preferred() (Row, bool) {
	for _, r := range s.rows() {
		against := slices.ContainsFunc([]Topic{TopicMutation, TopicConsistent}, func(t Topic) bool {
			c, ok := s.Topics[t]
			return ok && !c.Lapsed && !c.Provisional && r.contradicts(t, c.Value) != ""
		})
		if !against {
			return r, true
		}
	}
	return Row{}, false
}

// Advice is what the matrix says of a step that makes a transition: of a gate, and of a
// step by hand in recover. The second result is false where it says nothing.
func (s State) Advice(step string) (Advice, bool) {
	st, ok := s.Step(step)
	r, has := s.Preferred()
	transition, moves := transitionOf(&st)
	if !ok || !has || st.Retired || !moves {
		return Advice{}, false
	}
	a := Advice{Row: r, Departs: !r.Holds(transition, st.Class)}
	if st.Kind == GateStep && !s.moved() { // what is done by hand on the way to a gate begins nothing
		a.Departs = !r.Begins(transition, st.Class)
	}
	if a.Departs {
		a.Why = s.Plan().Departs
	}
	return a, true
}

// transitionOf is what a step does by the words of the matrix.
func transitionOf(st *Step) (transition string, ok bool) {
	switch {
	case st.Kind == GateStep:
		return st.Uses, true
	case st.Kind == ManualStep && st.Phase == Recover:
		return ByHand, true
	}
	return "", false
}

// moved reports whether the plan in force has made a transition: an act of a gate, or a
// step by hand, that is more than containment.
func (s *State) moved() bool {
	return slices.ContainsFunc(s.Steps, func(st Step) bool {
		_, moves := transitionOf(&st)
		if !moves || st.Retired || st.Class == Contain || resumes(st.Uses) {
			return false
		}
		return st.Kind == ManualStep && st.Status == Settled || s.Gates[st.ID].StartSeq > 0
	})
}

// preferredBy is the gate that the matrix would begin with, where the loop is about to
// recommend a gate that it would not, as the first transition, and the runbook gives no
// reason to: "" for none. To give back what was paused departs from no row, and begins only the
// one that says so.
func preferredBy(s *State, gate *Step, options []Option) string {
	r, ok := s.Preferred()
	if !ok || s.Plan().Departs != "" || s.moved() || r.Begins(gate.Uses, gate.Class) {
		return ""
	}
	for i := range options {
		o := &options[i]
		st, known := s.Step(o.Step)
		if known && o.Kind == DoPreview && o.Available() && slices.Contains(r.First, st.Uses) && gateWanted(s, &st, nil) {
			return o.Step
		}
	}
	return ""
}
