package triage

import (
	"slices"
	"testing"
)

// TestFindingIsAnsweredBeforeTheClose: each critical finding that shuts no gate is asked
// for once nothing else is in the way, and its answer holds for its very text.
func TestFindingIsAnsweredBeforeTheClose(t *testing.T) {
	t.Parallel()
	told := func(texts ...string) []Finding {
		var out []Finding
		for _, text := range texts {
			out = append(out, Finding{Level: "critical", Say: text})
		}
		return out
	}
	again := func(s State, n int, outcome string, texts ...string) State {
		end := read(lock, n, outcome, "true")
		end.Findings = told(texts...)
		return tell(t, s, ProbeStart{Step: lock, N: n}, end)
	}
	s := again(tell(t, State{}, ready()...), 2, "ok", "a", "b")
	open := func(s State) []string {
		var out []string
		st, _ := s.Step(lock)
		for _, f := range st.Telling() {
			out = append(out, f.Say)
		}
		return out
	}
	for name, b := range map[string]FindingAnswer{
		"no word how":  {Step: lock, Finding: "a", How: Resolved},
		"no person":    {Step: lock, Finding: "a", How: Taken, Why: "later"},
		"no answer":    {Step: lock, Finding: "a", How: "ignored", Why: "x", Person: "x"},
		"another text": {Step: lock, Finding: "c", How: Resolved, Why: "x"},
		"another step": {Step: extra, Finding: "a", How: Resolved, Why: "x"},
		"no step":      {Step: "demo/none", Finding: "a", How: Resolved, Why: "x"},
	} {
		if err := Follows(s, next(s, b)); err == nil {
			t.Errorf("%s: it folds", name)
		}
	}
	s = tell(t, s, FindingAnswer{Step: lock, Finding: "a", How: Resolved, Why: "restarted"}, FindingAnswer{Step: lock, Finding: "b", How: Taken, Person: "ada"})
	if len(open(s)) > 0 || len(s.Answered) != 2 {
		t.Fatalf("open after the answers: %v", open(s))
	}
	if twice := (FindingAnswer{Step: lock, Finding: "a", How: Resolved, Why: "x"}); Follows(s, next(s, twice)) == nil {
		t.Error("it is answered twice")
	}
	if s := again(s, 3, "ok", "b", "c"); !slices.Equal(open(s), []string{"c"}) {
		t.Errorf("the same finding and another one: %v are open", open(s))
	}
	if s := again(again(s, 3, "ok"), 4, "ok", "a"); !slices.Equal(open(s), []string{"a"}) {
		t.Errorf("one that came back: %v are open", open(s))
	}
}

// TestAnswersAreAskedForLast: an incident that cannot close as recovered for another
// reason is not held up by them, and one that can is.
func TestAnswersAreAskedForLast(t *testing.T) {
	t.Parallel()
	found := finds(lock, Finding{Level: "critical", Say: "x"})
	named := func(s *State) { s.Incident = "i" }
	next := func(s State) Option {
		for _, o := range Options(s, s.Updated, func(string) []Verdict { return []Verdict{{Aside: true, Result: "false", Why: "no"}} }) {
			if o.Recommended {
				return o
			}
		}
		return Option{}
	}
	if o := next(recovers(named, found)); o.Kind != DoResolve || o.Step != lock || o.Subject != "x" {
		t.Errorf("it asks for %s %s", o.Kind, o.Step)
	}
	if o := next(recovers(named, found, topic(TopicConsistent, Conclusion{Value: "no", Seq: 10}))); o.Kind != DoClose || o.Value != "open" {
		t.Errorf("an incident that did not recover is asked for %s %s", o.Kind, o.Value)
	}
	s := recovers(named, found)
	if Check(s, Intent{Kind: DoClose, Value: "recovered"}, s.Updated, nil) == nil {
		t.Error("it closes as recovered over a finding that no one answered")
	}
}
