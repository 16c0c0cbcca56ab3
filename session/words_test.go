package session_test

import (
	"errors"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/triage"
)

// TestWordsSettleOnlyWhatTheyName: an answer or a proof that does not name what was read
// is refused and recorded nowhere, by whichever way it comes.
func TestWordsSettleOnlyWhatTheyName(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	text := strings.Replace(book, "mutation:\n", `mutation:
  - id: signed
    manual: Have the release signed.
    evidence: the review
    pattern: '^review \d+'
    names: [facts.lock.id]
`, 1)
	text = strings.Replace(text, "dead: it is gone}\n", "dead: it is gone}\n    names: {dead: [facts.lock.id]}\n", 1)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(text), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	for _, tc := range []struct {
		kind               triage.IntentKind
		step, value, words string
		refused            string
	}{
		{triage.DoAnswer, "test-lock/holder", "dead", "seen", "do not name l-1"},
		{triage.DoAnswer, "test-lock/holder", "dead", "l-12 is gone", "do not name l-1"},
		{triage.DoAnswer, "test-lock/holder", "alive", "seen", ""},
		{triage.DoAnswer, "test-lock/holder", "dead", "the holder of l-1 is gone", ""},
		{triage.DoManual, "test-lock/signed", "", "signed for l-1", "does not look like"},
		{triage.DoManual, "test-lock/signed", "", "review 7", "do not name l-1"},
		{triage.DoManual, "test-lock/signed", "", "review 7 for l-1", ""},
	} {
		before := s.Snapshot().State.Seq
		err := s.Do(t.Context(), triage.Intent{Kind: tc.kind, Step: tc.step, Value: tc.value, Text: tc.words})
		var r *triage.Refused
		switch {
		case tc.refused == "" && err != nil:
			t.Errorf("%s %q is refused: %v", tc.step, tc.words, err)
		case tc.refused != "" && (!errors.As(err, &r) || !strings.Contains(err.Error(), tc.refused)):
			t.Errorf("%s %q gave %v, want a refusal that it %s", tc.step, tc.words, err, tc.refused)
		case tc.refused != "" && s.Snapshot().State.Seq != before:
			t.Errorf("%s %q is refused and recorded", tc.step, tc.words)
		}
	}
}
