package session_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"handrail/session"
	"handrail/session/walk"
	"handrail/triage"
)

// TestScriptKeepsWhatAPersonSaid: a walk that goes on where a person stopped puts
// nothing over what the person said, unless its answers file says so and why.
func TestScriptKeepsWhatAPersonSaid(t *testing.T) {
	t.Parallel()
	const provisional = "mutation: accept"
	for name, tc := range map[string]struct {
		edit [2]string // of the script
		want string    // the conclusion afterwards
		stop string
	}{
		"it has no word":      {[2]string{provisional + ", ", ""}, "no", "the script has no answer"},
		"it accepts":          {[2]string{}, "no", "without a reason"},
		"it says so, and why": {[2]string{provisional, "mutation: {value: 'yes', why: the log shows it}"}, "yes", ""},
		"it accepts, and why": {[2]string{provisional, "mutation: {value: accept, why: the log shows it}"}, "yes", ""},
		"it says the same":    {[2]string{provisional, "mutation: {value: 'no', why: as they said, person: ann}"}, "no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := scripted(t)
			s := st.start(t)
			do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
			do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "seen"})
			do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "no", Person: "ann", Text: "she looked", Provisional: true})
			path := s.Snapshot().Bundle
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := session.Resume(t.Context(), st.cfg, path)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			var talk bytes.Buffer
			src := script
			if tc.edit[0] != "" {
				src = strings.Replace(script, tc.edit[0], tc.edit[1], 1)
			}
			got, err := walk.Play(t.Context(), again, says(t, src, &talk))
			if err != nil {
				t.Fatal(err)
			}
			c := again.Snapshot().State.Topics[triage.TopicMutation]
			if c.Value != tc.want || !strings.Contains(got.Why, tc.stop) {
				t.Fatalf("mutation = %s, stopped at %q, want %s because %q\n%s", c.Value, got.Why, tc.want, tc.stop, talk.String())
			}
			if tc.want == "yes" && (!c.Script || !strings.Contains(c.Why, "the log shows it") || !strings.Contains(c.Why, "over no of entry")) {
				t.Errorf("on record: %+v, want whose word it is, why, and over what", c)
			}
		})
	}
}

// TestScriptKeepsAnAnswerThatGrewOld: the loop asks a person again, and a script
// that has no answer is none.
func TestScriptKeepsAnAnswerThatGrewOld(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ answer, want, stop string }{
		"no answer":       {"", "dead", "the script has no answer"},
		"another, proven": {"holder: {value: alive, how: it renewed its lease}", "alive", ""},
		"the same":        {"holder: {value: dead, how: seen}", "dead", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := scripted(t)
			s := st.start(t)
			ready(t, s)
			st.clk.forward(20 * time.Minute)
			do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
			src := strings.Replace(script, "holder: {value: dead, how: seen}", tc.answer, 1)
			got, err := walk.Play(t.Context(), s, says(t, strings.Replace(src, "answers:\n  \n", "", 1), io.Discard))
			if err != nil {
				t.Fatal(err)
			}
			step, _ := s.Snapshot().State.Step("test-lock/holder")
			if step.Answer != tc.want || !strings.Contains(got.Why, tc.stop) || (tc.want == "dead") == step.Script && tc.stop != "" {
				t.Fatalf("holder = %s (%s), stopped at %q, want %s because %q", step.Answer, step.How, got.Why, tc.want, tc.stop)
			}
			if tc.want == "alive" && !strings.Contains(step.How, "over dead of entry") {
				t.Errorf("how = %q, want what it was put over", step.How)
			}
		})
	}
}

// TestScriptAcceptsOnlyWhatItSays: where the answers file has no word for a topic,
// what the facts propose is not accepted for it.
func TestScriptAcceptsOnlyWhatItSays(t *testing.T) {
	t.Parallel()
	st := scripted(t)
	s := st.start(t)
	src := strings.Replace(script, "conclude: {mutation: accept, consistent: accept, class: accept}\n", "", 1)
	got, err := walk.Play(t.Context(), s, says(t, src, io.Discard))
	if err != nil || st.w.acts != 0 || got.Outcome != "" {
		t.Fatalf("Play() = %+v, %v after %d acts, want it stopped before any", got, err, st.w.acts)
	}
	for topic, c := range s.Snapshot().State.Topics {
		if c.Value != triage.Unknown {
			t.Errorf("%s is concluded as %s, and the script says nothing of it", topic, c.Value)
		}
	}
}

// TestScriptGoesOnWithItsOwnWords: what an earlier walk by an answers file put on
// record is no word of a person, and what fell when the target moved is none at all.
func TestScriptGoesOnWithItsOwnWords(t *testing.T) {
	t.Parallel()
	st := scripted(t)
	s := st.start(t)
	ready(t, s)
	do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "no", Person: "ann", Text: "the file said so", Provisional: true, Script: true})
	st.w.onRead = func(n int, w *world) {
		if w.lock = "l-1"; n == 2 {
			w.lock = "l-2"
		}
	}
	do(t, s, preview())
	refusals(t, s.Do(t.Context(), confirm()), "moved")
	if c := s.Snapshot().State.Topics[triage.TopicConsistent]; !c.Lapsed || c.Value != triage.Unknown {
		t.Fatalf("consistent = %+v, want it fallen", c)
	}
	st.w.onRead, st.w.lock = nil, "l-1"
	var talk bytes.Buffer
	got, err := walk.Play(t.Context(), s, says(t, script, &talk))
	if err != nil || got.Code != walk.CodeDone || st.w.acts != 1 {
		t.Errorf("Play() = %+v, %v after %d acts, want it done\n%s", got, err, st.w.acts, talk.String())
	}
	if c := s.Snapshot().State.Topics[triage.TopicMutation]; c.Value != "yes" {
		t.Errorf("mutation = %+v, want what the facts propose", c)
	}
}
