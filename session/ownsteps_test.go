package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/session"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// recording is the catalogue of the program, and keeps what each read knew of the machine.
type recording struct {
	*catalog.Catalog
	seen *[]steps.Env
}

func (r recording) Lookup(name string) (steps.Kind, bool) {
	k, ok := r.Catalog.Lookup(name)
	if k.Outputs != nil {
		of := *k.Outputs
		reads := of.Reads
		of.Reads = func(e steps.Env, outs []steps.Output) steps.Prober {
			*r.seen = append(*r.seen, e)
			return reads(e, outs)
		}
		k.Outputs = &of
	}
	return k, ok
}

const ownBook = `apiVersion: handrail/v1
kind: Runbook
id: own-steps
title: Own steps
domain: runner
severity: SEV-3
preserve:
  - id: release
    uses: own/file
    with: {dir: ., path: release.json}
    required: true
    facts:
      version: {type: string, cel: doc.version}
      token: {type: string, cel: doc.token}
      gone: {type: int, cel: doc.gone}
      state: {type: string, cel: doc.state.outputs.db.value}
      secret: {type: string, cel: doc.secret.data.password}
      short: {type: string, regexp: '"value":\s*"([^"]+)"'}
    findings:
      - {when: facts.release.version == '1.4.1', say: "It is ${facts.release.version}."}
`

// TestStepsOfARunbookAreReadForItsDigest: the facts that a step declares are recorded with
// their types, what a rule knows as a secret is not; and a resume by a person who does not
// trust the text reads nothing of it again.
func TestStepsOfARunbookAreReadForItsDigest(t *testing.T) {
	t.Parallel()
	st, seen, trusted := newStage(t), []steps.Env{}, true
	c := st.cfg
	c.Env.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(c.Env.Dir, "release.json"), []byte(`{"version":"1.4.1","token":"ghp_`+strings.Repeat("aB3", 12)+`",
"state":{"version":4,"terraform_version":"1.9.0","serial":3,"lineage":"l","outputs":{"db":{"value":"tulip","type":"string","sensitive":true}},"resources":[]},
"secret":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"password":"dHVsaXBz"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Catalog = recording{catalog.New(), &seen}
	rb, err := runbooks.Parse("own-steps.yaml", []byte(ownBook), c.Catalog)
	if err != nil {
		t.Fatal(err)
	}
	c.Library = func(string) (*runbooks.Runbook, error) { return rb, nil }
	c.Env.Known = func(string) error { return nil }
	c.Env.TrustedRunbook = func(digest string) error {
		if digest != rb.Digest || !trusted {
			return fmt.Errorf("%.8s is not trusted", digest)
		}
		return nil
	}
	c.ReadOnly = func(policy.Question) policy.Closed { return policy.Closed{By: "--readonly", Why: "so asked"} }
	s, err := session.Start(t.Context(), c, session.Begin{Runbook: rb})
	if err != nil {
		t.Fatal(err)
	}
	const id = "own-steps/release"
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: id})
	got, _ := s.Snapshot().State.Step(id)
	if got.Outcome != "ok" || got.Facts["version"].Text() != "1.4.1" || got.Facts["gone"].Type() != steps.Int || !strings.Contains(got.Facts["gone"].Why(), "no such key") || len(got.Findings) != 1 {
		t.Errorf("the step is %+v", got)
	}
	if text := got.Facts["token"].Text(); strings.Contains(text, "aB3") || !strings.Contains(text, "redacted") {
		t.Errorf("the token is recorded as %q", text)
	}
	for _, name := range []string{"state", "secret", "short"} {
		if v := got.Facts[name]; strings.Contains(v.Text(), "tulip") || strings.Contains(v.Text(), "dHVs") || v.Known() && !strings.Contains(v.Text(), "redacted") {
			t.Errorf("%s is recorded as %q", name, v.Text())
		}
	}
	if len(seen) != 1 || seen[0].Runbook != rb.Digest || seen[0].ReadOnly != "--readonly" {
		t.Errorf("the probe knew %+v", seen)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	trusted = false
	if s, err = session.Resume(context.Background(), c, path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: id})
	if got, _ := s.Snapshot().State.Step(id); got.Outcome != "failed" || got.Facts["version"].Known() || !strings.Contains(got.Summary, "is not trusted") {
		t.Errorf("without trust the step is %+v", got)
	}
}
