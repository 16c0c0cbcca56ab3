package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"handrail/session/audit"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// byPlace is a stage whose policy asks two persons where a directory is production.
func byPlace(t *testing.T) (*duo, *[]policy.Question) {
	t.Helper()
	d := newDuo(t)
	asked := &[]policy.Question{}
	d.cfg.Header = []steps.KV{{Key: "cluster", Value: "none"}}
	d.cfg.Second = func(_ context.Context, q policy.Question) (*policy.Pair, error) {
		*asked = append(*asked, q)
		for _, kv := range q.Target {
			if kv.Key == "directory" && strings.Contains(kv.Value, "production") {
				return d.pair, nil
			}
		}
		return nil, nil
	}
	return d, asked
}

// TestPolicyIsAskedOfTheTarget: after the preview, of what it tells.
func TestPolicyIsAskedOfTheTarget(t *testing.T) {
	t.Parallel()
	d, asked := byPlace(t)
	d.w.place = "/infra/live/production"
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	g := s.Snapshot().State.Gates["test-lock/unlock"]
	if g.Shown.Second == nil {
		t.Fatalf("no second person is asked for; policy was told %+v", *asked)
	}
	if got := steps.Find(g.Shown.Where, "directory"); got != d.w.place {
		t.Errorf("the journal keeps %v of the place", g.Shown.Where)
	}
	if got := steps.Find(g.Shown.Second.Where, "directory"); got != d.w.place {
		t.Errorf("the second person sees %v", g.Shown.Second.Where)
	}
	refusals(t, s.Do(t.Context(), confirm()), "")
	if d.w.acts != 0 {
		t.Error("it acted on one person's word")
	}
	where := s.Snapshot().Where
	if got := steps.Find(where, "directory"); got != d.w.place {
		t.Errorf("the header is told %v", where)
	}
}

// TestPolicyIsAskedOfTheReRead: what turns to production after the phrase was typed is
// noticed, although nothing that was confirmed moved.
func TestPolicyIsAskedOfTheReRead(t *testing.T) {
	t.Parallel()
	d, asked := byPlace(t)
	d.w.place = "/infra/dev"
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	d.w.onRead = func(_ int, w *world) { w.place = "/infra/live/production" }
	refusals(t, s.Do(t.Context(), confirm()), "")
	last := (*asked)[len(*asked)-1]
	if d.w.acts != 0 || steps.Find(last.Target, "directory") != "/infra/live/production" {
		t.Errorf("%d acts; policy was told %+v", d.w.acts, last)
	}
}

// TestPolicyFollowsLinks: a directory is also what its link leads to.
func TestPolicyFollowsLinks(t *testing.T) {
	t.Parallel()
	d, _ := byPlace(t)
	real := filepath.Join(t.TempDir(), "production")
	d.w.place = filepath.Join(t.TempDir(), "dev")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, d.w.place)); err != nil {
		t.Fatal(err)
	}
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	if s.Snapshot().State.Gates["test-lock/unlock"].Shown.Second == nil {
		t.Error("a link to production asks for no one")
	}
}

// TestPolicySeesTheWorstSeverity, whatever it was lowered to.
func TestPolicySeesTheWorstSeverity(t *testing.T) {
	t.Parallel()
	d, asked := byPlace(t)
	s := d.start(t)
	ready(t, s)
	for _, to := range []triage.Severity{"SEV-1", "SEV-4"} {
		do(t, s, triage.Intent{Kind: triage.DoSeverity, Severity: to, Text: "as it looks"})
	}
	do(t, s, triage.Intent{Kind: triage.DoPerson, Who: triage.Person{ID: "ada", Name: "ada", Proof: "claimed", Roles: []string{"commander"}}})
	do(t, s, preview())
	for _, q := range *asked {
		if q.Severity != "SEV-1" {
			t.Errorf("policy is told %s", q.Severity)
		}
	}

}

// TestRulesStandInTheJournal: at the opening and with each preview.
func TestRulesStandInTheJournal(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	d.cfg.Second, d.pair = nil, nil
	rules := []steps.KV{{Key: "policy.yaml of the user", Value: "none"}}
	d.cfg.Rules = func() []steps.KV { return rules }
	s := d.start(t)
	ready(t, s)
	rules = []steps.KV{{Key: "policy.yaml of the user", Value: "sha256:ab"}}
	do(t, s, preview())
	st := s.Snapshot().State
	if got := steps.Find(st.Rules, "policy.yaml of the user"); got != "none" {
		t.Errorf("opened under %v", st.Rules)
	}
	if got := st.Gates["test-lock/unlock"].Shown.Rules; steps.Find(got, "policy.yaml of the user") != "sha256:ab" {
		t.Errorf("shown under %v", got)
	}
}

// TestBundleIsHeldToAPolicy: a journal in which one person acted does not pass where
// the verifier's policy asks two, whatever was in force.
func TestBundleIsHeldToAPolicy(t *testing.T) {
	t.Parallel()
	d, _ := byPlace(t)
	d.w.place = "/infra/dev"
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, confirm())
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		asks func(policy.Question) (string, error)
		ok   bool
	}{
		"asks for no one": {func(policy.Question) (string, error) { return "", nil }, true},
		"asks": {func(q policy.Question) (string, error) {
			if steps.Find(q.Target, "directory") != "/infra/dev" || steps.Find(q.Target, "cluster") != "none" || q.Kind != "test/unlock" || q.Severity != "SEV-3" {
				return "", errors.New("told another story")
			}
			return "two persons are asked for", nil
		}, false},
		"cannot tell": {func(policy.Question) (string, error) { return "", errors.New("no such place") }, false},
	} {
		rep, err := audit.Bundle(path, d.w, audit.Verifier{Policy: &audit.Policy{May: allow(t, map[string]ssh.Signer{"g@x": d.grace}), Asks: tc.asks}})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, l := range rep.Lines {
			if l.Property == "policy" {
				found = true
				if l.OK != tc.ok || strings.Contains(l.Detail, "another story") {
					t.Errorf("%s: %+v", name, l)
				}
			}
		}
		if !found {
			t.Errorf("%s: the audit says nothing of the policy", name)
		}
	}
}
