package drills_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// throughWith says what people say who want a plan through that only adds.
const throughWith = `apiVersion: handrail/v1
kind: Answers
runbook: late-destroy
answers:
  apply_pending: {value: nothing, how: "the queue is empty"}
  audit: {value: none, how: "no write since the plan was made"}
  events: {value: none, how: "it ends nothing"}
  pointer: {value: right, how: "there is nothing to look at"}
  provider: {value: unchanged, how: "the same lock file"}
  stateful: {value: stateless, how: "it ends nothing"}
  guarded: {value: guarded, how: "it ends nothing"}
  expected: {value: wanted, how: "it only adds"}
  approved: {value: each_named, how: "it names {names}, which ends nothing"}
  backup: {value: not_needed, how: "the plan ends nothing"}
manual: {copies: "ticket OPS-1", mend: "the plan ends nothing", rule: "ticket OPS-2"}
conclude:
  domain: {value: plan-engine, why: "it is about a plan"}
  owner: accept
  mutation: {value: 'no', why: "no run of it began", person: "who wants it through"}
  consistent: {value: 'yes', why: "the plan ends nothing", person: "who wants it through"}
  class: accept
gates:
  pause: {phrase: "pause work"}
  apply: {phrase: "${env.phrase}"}
`

// TestLostStateIsNotAppliedOver: the record of five objects is lost, so that the plan
// ends nothing and would make all of them anew. Walked with the real program by who
// wants it through, the gate stays shut by what was found at the beginning, and by
// nothing else.
func TestLostStateIsNotAppliedOver(t *testing.T) {
	t.Parallel()
	opts, err := lab.ForTests("drills")
	if err != nil {
		t.Fatal(err)
	}
	tofu, err := lab.Tofu(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	dir, home := filepath.Join(t.TempDir(), "work"), t.TempDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	for _, name := range []string{"network", "database", "queue", "cache", "zone"} {
		config.WriteString("resource \"terraform_data\" \"" + name + "\" {\n  input = \"" + name + "\"\n}\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CHECKPOINT_DISABLE=1"}
	for _, args := range [][]string{{"init", "-input=false"}, {"apply", "-auto-approve", "-input=false"}} {
		cmd := exec.CommandContext(t.Context(), tofu, args...)
		cmd.Dir, cmd.Env = dir, environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tofu %v: %v\n%s", args, err, out)
		}
	}
	lost := lose(t, filepath.Join(dir, "terraform.tfstate"))

	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cat, state := catalog.New(), t.TempDir()
	rb, err := library("late-destroy")
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Start(t.Context(), session.Config{
		Dir: filepath.Join(state, "incidents"), Keys: filepath.Join(state, "keys"), Acts: filepath.Join(state, "acts"), Undo: filepath.Join(state, "undo"),
		Catalog: cat, Library: library, Now: time.Now, Rand: rand.Reader, Version: "test",
		Env: steps.Env{Dir: dir, Environ: environ, Home: home, User: me.Username, Host: host, Now: time.Now,
			Tool: func(string) (string, error) { return tofu, nil }, Trusted: func(string) error { return nil }},
		Actor: triage.Person{ID: "op", Name: "op", Proof: "os", Subject: me.Username},
	}, session.Begin{Runbook: rb, Drill: "through", Params: steps.Params{"dir": steps.PathOf(dir)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	script, err := walk.ParseAnswers("through", []byte(throughWith))
	if err != nil {
		t.Fatal(err)
	}
	var talk strings.Builder
	got, err := walk.Play(t.Context(), s, walk.Script{Answers: script, Vars: map[string]string{"env.phrase": "apply"}, Talk: &talk})
	if err != nil || got.Code != walk.CodeRefused || got.Refused != "late-destroy/apply" {
		t.Fatalf("Play = %+v, %v, want the apply refused\n%s", got, err, talk.String())
	}
	st := s.Snapshot().State
	fresh, _ := st.Step("late-destroy/fresh")
	if add, doomed := string(fresh.Facts["add"].Raw()), string(fresh.Facts["doomed"].Raw()); add != `"5"` || doomed != "[]" {
		t.Errorf("the plan adds %s and ends %s, want all five made anew and nothing ended", add, doomed)
	}
	for _, o := range s.Snapshot().Options {
		if o.Kind != triage.DoPreview || o.Step != "late-destroy/apply" {
			continue
		}
		if len(o.Refusals) == 0 {
			t.Error("the gate is open")
		}
		for _, r := range o.Refusals {
			if !strings.HasPrefix(r.Why, "late-destroy/state found: ") {
				t.Errorf("it is shut by something else as well, so that the finding proves nothing: %s", r.Why)
			}
		}
	}
	now, err := os.ReadFile(filepath.Join(dir, "terraform.tfstate"))
	if err != nil || string(now) != lost || st.Gates["late-destroy/apply"].StartSeq != 0 {
		t.Errorf("the state was written: %s, %v", now, err)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if laws, err := audit.Bundle(path, cat, audit.Verifier{}); err != nil || !laws.OK() {
		t.Errorf("audit: %+v, %v", laws.Lines, err)
	}
}

// lose leaves nothing of what a state records, in the format of an old tool, as
// after an old copy was put in its place. The tools read it without an
// error, and serial and lineage are those that they know.
func lose(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var now struct {
		Serial  int64  `json:"serial"`
		Lineage string `json:"lineage"`
	}
	if err := json.Unmarshal(raw, &now); err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{"version":3,"terraform_version":"0.11.14","serial":%d,"lineage":%q,"modules":[{"path":["root"],"outputs":{},"resources":{},"depends_on":[]}]}`, now.Serial, now.Lineage)
	if err := os.WriteFile(name, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	return old
}
