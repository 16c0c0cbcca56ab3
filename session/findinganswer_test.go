package session_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session/report"
	"handrail/session/walk"
	"handrail/triage"
)

// TestScriptAnswersFindings: a script closes as recovered only where it quotes each
// critical finding that shut no gate; the report has the answers, and an answers file
// that is made of the incident says them again.
func TestScriptAnswersFindings(t *testing.T) {
	t.Parallel()
	src := strings.NewReplacer("apart: 20s", "apart: 1ms", "    required: true\nmutation", `    required: true
    findings:
      - {when: "facts.lock.id != 'x'", level: critical, against: [], say: "The lock ${facts.lock.id} is held by a run that died."}
      - {level: critical, against: [], say: The log of that run is gone.}
mutation`).Replace(book)
	for name, tc := range map[string]struct {
		says string
		code int
	}{
		"nothing": {"", walk.CodeOpen},
		"one":     {`findings: [{finding: is held by a run, subject: lock, resolved: it was released}]` + "\n", walk.CodeOpen},
		"both":    {`findings: [{finding: is held by a run, subject: lock, resolved: it was released}, {finding: The log of that run, subject: lock, taken: ada, why: the log store}]` + "\n", walk.CodeDone},
		"another": {`findings: [{finding: is held by another run, subject: lock, resolved: it was released}]` + "\n", walk.CodeOpen},
	} {
		st := newStage(t)
		rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
		if err != nil {
			t.Fatal(err)
		}
		st.rb = rb
		s := st.start(t)
		var talk bytes.Buffer
		by := says(t, script+tc.says, &talk)
		if err := by.Answers.Check(rb); err != nil {
			t.Fatal(err)
		}
		got, err := walk.Play(t.Context(), s, by)
		if err != nil || got.Code != tc.code {
			t.Errorf("%s: Play() = %+v, %v\n%s", name, got, err, talk.String())
		}
		if tc.code != walk.CodeDone {
			if !strings.Contains(got.Why, "does not answer what test-lock/lock found: ") {
				t.Errorf("%s: it stops at %q", name, got.Why)
			}
			continue
		}
		state := s.Snapshot().State
		page, err := os.ReadFile(report.Path(s.Snapshot().Bundle))
		if err != nil || !strings.Contains(string(page), "resolved: it was released") || !strings.Contains(string(page), "taken by ada: the log store") || !strings.Contains(string(page), "(test-lock/lock) — ada") {
			t.Errorf("the report does not say the answers, %v:\n%s", err, page)
		}
		if again := answers(t, walk.Recorded(state)).Findings; len(again) != 2 || again[0].How != triage.Resolved || again[1].Person != "ada" {
			t.Errorf("they are put as %+v", again)
		}
	}
}

// TestLaterReadingAnswersFindings: what the watch of the same lock does not find any more is
// asked of no one at the close, and the report says by which reading; what it cannot speak of
// is asked all the same.
func TestLaterReadingAnswersFindings(t *testing.T) {
	t.Parallel()
	src := strings.NewReplacer("apart: 20s", "apart: 1ms", "    required: true\nmutation", `    required: true
    findings:
      - {when: facts.lock.held, level: critical, against: [], say: The lock is held by a run that died.}
      - {level: critical, against: [], say: The log of that run is gone.}
mutation`).Replace(book)
	for name, tc := range map[string]struct {
		says string
		code int
	}{
		"nothing": {"", walk.CodeOpen},
		"the log": {`findings: [{finding: The log of that run, subject: lock, taken: ada, why: the log store}]` + "\n", walk.CodeDone},
	} {
		st := newStage(t)
		rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
		if err != nil {
			t.Fatal(err)
		}
		st.rb = rb
		s := st.start(t)
		var talk bytes.Buffer
		got, err := walk.Play(t.Context(), s, says(t, script+tc.says, &talk))
		if err != nil || got.Code != tc.code {
			t.Fatalf("%s: Play() = %+v, %v\n%s", name, got, err, talk.String())
		}
		state := s.Snapshot().State
		if len(state.Gone) != 1 || state.Gone[0].By != "test-lock/free" || !strings.Contains(state.Gone[0].Finding.Say, "is held by a run") {
			t.Errorf("%s: kept as resolved: %+v", name, state.Gone)
		}
		if tc.code != walk.CodeDone {
			continue
		}
		page, err := os.ReadFile(report.Path(s.Snapshot().Bundle))
		if err != nil || !strings.Contains(string(page), "resolved: test-lock/free read the same later, and does not find it") {
			t.Errorf("the report does not say what resolved it, %v:\n%s", err, page)
		}
	}
}
