package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/triage"
)

const paramBook = `apiVersion: handrail/v1
kind: Runbook
id: test-lock
title: A test lock
domain: state-backend
severity: SEV-3
params:
  dir: {type: path, default: ., help: where it is}
  log: {type: path, help: a log}
  limit: {type: duration, default: 30m, help: how long}
preserve:
  - id: lock
    uses: test/lock
    required: true
    findings:
      - {when: "params.dir == 'none'", level: warning, say: odd}
  - id: log
    uses: test/lock
    when: params.log != ''
mutation:
  - id: holder
    ask: Is the holder alive?
    answers: {alive: it runs, dead: it is gone}
  - conclude: mutation
    cases:
      - {when: "answers.holder == 'dead'", is: 'yes', say: it died}
compare:
  - conclude: consistent
    cases:
      - {when: facts.lock.held, is: 'no', say: it is held}
classify:
  - conclude: class
    cases:
      - {when: facts.lock.held, is: MutationPartiallySucceeded, say: part of it}
recover:
  - id: unlock
    gate: test/unlock
    with: {id: "${facts.lock.id}"}
    require:
      - {when: "answers.holder == 'dead'", else: it is not said to be dead}
verify:
  - id: free
    watch: test/lock
    when: "!facts.free.held"
    greens: 2
    apart: 20s
`

func paramStage(t *testing.T) (*stage, *session.Session) {
	t.Helper()
	st := newStage(t)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(paramBook), st.w)
	if err != nil {
		t.Fatal(err)
	}
	params, err := rb.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	st.cfg.Library = func(string) (*runbooks.Runbook, error) { return rb, nil }
	s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: rb, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return st, s
}

func reparam(name, value string) triage.Intent {
	return triage.Intent{Kind: triage.DoPlan, Value: "test-lock", Params: map[string]string{name: value}}
}

// TestParametersChange: what was read with the old value counts no more, what does not
// use the parameter stays, and a step that did not apply may apply now.
func TestParametersChange(t *testing.T) {
	t.Parallel()
	_, s := paramStage(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "looked"})
	status := func(id string) triage.Status {
		st, _ := s.Snapshot().State.Step("test-lock/" + id)
		return st.Status
	}
	if got := status("log"); got != triage.Skipped {
		t.Fatalf("the log is %s without one", got)
	}
	do(t, s, reparam("limit", "40m"))
	if v, ok := s.Snapshot().State.Params("test-lock")["log"]; ok {
		t.Errorf("a log that was never given is %q", v.Text())
	}
	do(t, s, reparam("log", "run.log"))
	if status("log") != triage.Pending || status("lock") != triage.Settled || status("holder") != triage.Settled {
		t.Errorf("with a log: log %s, lock %s, holder %s", status("log"), status("lock"), status("holder"))
	}
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/log"})
	do(t, s, reparam("dir", "elsewhere"))
	if status("lock") != triage.Stale || status("holder") != triage.Stale || status("log") != triage.Settled {
		t.Errorf("elsewhere: lock %s, holder %s, log %s", status("lock"), status("holder"), status("log"))
	}
	if st, _ := s.Snapshot().State.Step("test-lock/lock"); st.Facts["held"].Known() {
		t.Error("what was read there is still known")
	}
	if got := s.Snapshot().State.Params("test-lock"); got["log"].Text() != "run.log" || got["dir"].Text() != "elsewhere" {
		t.Errorf("Params() = %v", got)
	}
	do(t, s, reparam("log", ""))
	if got := status("log"); got != triage.Skipped {
		t.Errorf("the log is %s once it is taken away", got)
	}
	if got := s.Snapshot().State.Params("test-lock")["log"].Text(); got != "" {
		t.Errorf("the log is still %q", got)
	}
}

// TestSecretIsNoParameter: a value that the journal would not keep is refused, and
// reaches no file.
func TestSecretIsNoParameter(t *testing.T) {
	t.Parallel()
	_, s := paramStage(t)
	secret := "AKIA" + "Z7Q4XN2LW6VPKD3M"
	err := s.Do(t.Context(), reparam("log", secret))
	if err == nil || !strings.Contains(err.Error(), "looks like a secret") {
		t.Fatalf("Do() = %v", err)
	}
	err = filepath.WalkDir(s.Snapshot().Bundle, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds it", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
