package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/walk"
	"handrail/triage"
)

const against = `    required: true
    findings:
      - when: facts.lock.id == 'l-1'
        level: critical
        against: [unlock]
        say: Lock ${facts.lock.id} is that of the nightly run.
`

// spoken is a stage whose lock speaks against its gate.
func spoken(t *testing.T) *stage {
	t.Helper()
	st := scripted(t)
	src := strings.Replace(string(st.rb.Source), "    required: true\n", against, 1)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	return st
}

// TestFindingShutsTheGateOfAScript: the refusal names what was found and the way on,
// a script overrules only what it quotes, and all of it stands in the audit.
func TestFindingShutsTheGateOfAScript(t *testing.T) {
	t.Parallel()
	quoting := func(quote, subject string) string {
		return script + "waive:\n  - {finding: \"" + quote + "\", subject: " + subject + ", person: ada, why: it is ours}\n"
	}
	for name, tc := range map[string]struct {
		src  string
		code int
	}{
		"nothing said":      {script, walk.CodeRefused},
		"quoted":            {quoting("is that of the nightly run", "lock"), walk.CodeDone},
		"another finding":   {quoting("is that of the weekly run", "lock"), walk.CodeRefused},
		"of another step":   {quoting("is that of the nightly run", "holder"), walk.CodeRefused},
		"of a longer quote": {quoting("Lock l-1 is that of the nightly run. Really.", "lock"), walk.CodeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := spoken(t)
			var talk bytes.Buffer
			got, err := walk.Play(t.Context(), st.start(t), says(t, tc.src, &talk))
			if err != nil || got.Code != tc.code || st.w.acts != map[int]int{walk.CodeDone: 1}[tc.code] {
				t.Fatalf("Play() = %+v, %v, after %d acts\n%s", got, err, st.w.acts, talk.String())
			}
			if refused := tc.code == walk.CodeRefused; refused != strings.Contains(talk.String(), "test-lock/lock found: Lock l-1 is that of the nightly run.") ||
				refused != strings.Contains(talk.String(), "next: Fix it and read test-lock/lock again, or overrule it") {
				t.Errorf("it says\n%s", talk.String())
			}
			report, err := audit.Bundle(got.Path, st.w, audit.Verifier{})
			if err != nil || !report.OK() {
				t.Errorf("audit: %+v, %v", report.Lines, err)
			}
		})
	}
	for _, bad := range []string{
		"waive: [{finding: short, subject: lock, person: ada, why: it is ours}]",
		"waive: [{finding: is that of the nightly run, law: 1, subject: lock, person: ada, why: it is ours}]",
		"waive: [{subject: lock, person: ada, why: it is ours}]",
		"waive: [{finding: is that of the nightly run, subject: lock, why: it is ours}]",
		"waive: [{law: 0, subject: lock, person: ada, why: it is ours}]",
	} {
		if _, err := walk.ParseAnswers("a.yaml", []byte(script+bad+"\n")); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestFindingCannotBeLostBeforeTheAct: nor by a failed read, nor by a resume, nor by
// what comes between the preview and the phrase.
func TestFindingCannotBeLostBeforeTheAct(t *testing.T) {
	t.Parallel()
	st := spoken(t)
	st.w.lock = "l-2"
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	st.w.lock = "l-1"
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	if g := s.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateIdle {
		t.Fatalf("the gate is %s under what was found against it", g.Phase)
	}
	refusedBy := func(s *session.Session) {
		t.Helper()
		var r *triage.Refused
		if err := s.Do(t.Context(), preview()); !errors.As(err, &r) || !strings.Contains(r.Error(), "nightly run") {
			t.Fatalf("preview: %v", err)
		}
	}
	refusedBy(s)
	st.w.fails = errors.New("no rights")
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	st.w.fails = nil
	if got := s.Snapshot().State.SpeaksAgainst("test-lock/unlock"); len(got) != 1 {
		t.Fatalf("a read that failed takes the finding away: %v", got)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := session.Resume(t.Context(), st.cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := again.Snapshot().State.SpeaksAgainst("test-lock/unlock"); len(got) != 1 {
		t.Fatalf("a resume takes the finding away: %v", got)
	}
	st.w.lock = "l-3"
	do(t, again, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	do(t, again, preview())
}

// TestFindingsAreJudgedAfterTheRound: a finding that stands on a step which was not
// read yet is judged again once it is; a reading that is still running is waited for.
func TestFindingsAreJudgedAfterTheRound(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	src := strings.Replace(book, "    required: true\n", `    required: true
    findings:
      - {when: facts.lock.held && facts.again.held, level: critical, against: [unlock], say: "Held by ${facts.lock.id}, and by ${facts.again.id} the second time."}
      - {when: facts.lock.held && !facts.again.held, level: warning, say: It was released meanwhile.}
  - id: again
    uses: test/lock
`, 1)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(src), st.w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	s := st.start(t)
	said := func() []triage.Finding {
		step, _ := s.Snapshot().State.Step("test-lock/lock")
		return step.Findings
	}
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	quiet(t, s)
	if got := said(); len(got) != 2 || !got[0].Unsure || !got[1].Unsure {
		t.Fatalf("before the second reading: %+v, want both unsure", got)
	}
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/again"})
	quiet(t, s)
	if got := said(); len(got) != 1 || got[0].Unsure || got[0].Say != "Held by l-1, and by l-1 the second time." || len(got[0].Against) != 1 {
		t.Fatalf("after it: %+v, want the one that holds, against the gate", got)
	}
	n := s.Snapshot().State.Seq
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: "nothing new"})
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/again"})
	quiet(t, s)
	if got := s.Snapshot().State.Seq; got != n+3 {
		t.Errorf("%d entries for a note and a reading that changes nothing, want 3", got-n)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := audit.Bundle(path, st.w, audit.Verifier{}); err != nil || !report.OK() {
		t.Errorf("audit: %+v, %v", report.Lines, err)
	}
}
