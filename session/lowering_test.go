package session_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"handrail/evidence/sig"
	"handrail/session"
	"handrail/session/approval"
	"handrail/session/audit"
	"handrail/session/policy"
	"handrail/session/replay"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/triage"
)

// bySeverity is a stage whose policy asks two persons to lower the severity, and
// one for its gate.
func bySeverity(t *testing.T) *duo {
	t.Helper()
	d := newDuo(t)
	d.cfg.Second = func(_ context.Context, q policy.Question) (*policy.Pair, error) {
		if q.To == "" {
			return nil, nil
		}
		return d.pair, d.err
	}
	return d
}

func level(to triage.Severity) triage.Intent {
	return triage.Intent{Kind: triage.DoSeverity, Severity: to, Text: "nobody is hurt any more"}
}

// loweringOf is what waits for a second person, as a chat carries it.
func loweringOf(t *testing.T, s *session.Session) approval.Request {
	t.Helper()
	second := s.Snapshot().Lowers
	if second == nil || len(second.Lacks) == 0 || second.Request == "" {
		t.Fatalf("Lowers = %+v, want a request", second)
	}
	r, err := approval.ParseRequest(second.Request)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func agreed(line string) triage.Intent {
	return triage.Intent{Kind: triage.DoApprove, Step: triage.SeverityGate, Sig: line}
}

// TestSecondPersonLowersTheSeverity as a second person opens a gate: by a signature of
// what is asked, from a key that is not the operator's, and once.
func TestSecondPersonLowersTheSeverity(t *testing.T) {
	t.Parallel()
	d := bySeverity(t)
	s := d.start(t)
	ready(t, s)
	severity := func() triage.Severity { return s.Snapshot().State.Severity }
	do(t, s, level("SEV-1"))
	do(t, s, level("SEV-3"))
	if severity() != "SEV-1" {
		t.Fatalf("one person lowered it to %s", severity())
	}
	r := loweringOf(t, s)
	if steps.Find(r.Shown.Target, "because") != level("").Text || !strings.Contains(r.Shown.Effect, "from SEV-1 down to SEV-3") {
		t.Errorf("the second person sees %+v", r.Shown)
	}
	good := replyOf(t, r, d.grace, d.clk.Now())
	for why, line := range map[string]string{
		"belongs to the operator": replyOf(t, r, d.op, d.clk.Now()),
		"does not belong":         replyOf(t, r, d.eve, d.clk.Now()),
		"expires":                 replyOf(t, r, d.grace, d.clk.Now().Add(-11*time.Minute)),
		"does not begin with":     "ok by me",
		"and this gate shows ":    strings.Replace(good, r.Shown.Digest[:12], "0123456789ab", 1),
	} {
		refusals(t, s.Do(t.Context(), agreed(line)), why)
	}
	d.err = errors.New("gone")
	refusals(t, s.Do(t.Context(), agreed(good)), "gone")
	refusals(t, s.Do(t.Context(), level("SEV-2")), "gone")
	d.err = nil
	if severity() != "SEV-1" {
		t.Fatalf("it is %s by no approval that counts", severity())
	}

	// Asked anew, the old answer is of another question.
	do(t, s, level("SEV-2"))
	refusals(t, s.Do(t.Context(), agreed(good)), "and this gate shows")
	do(t, s, level("SEV-3"))
	refusals(t, s.Do(t.Context(), agreed(good)), "not an approval of what this gate shows now")

	// It outlives the session; it does not outlive its time, nor a severity that was set.
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if s, err = session.Resume(t.Context(), d.cfg, path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r = loweringOf(t, s)
	d.clk.forward(31 * time.Minute)
	refusals(t, s.Do(t.Context(), agreed(replyOf(t, r, d.grace, d.clk.Now()))), "has expired")
	do(t, s, level("SEV-3"))
	r = loweringOf(t, s)
	do(t, s, level("SEV-1"))
	refusals(t, s.Do(t.Context(), agreed(replyOf(t, r, d.grace, d.clk.Now()))), "no gate is waiting")
	do(t, s, level("SEV-3"))
	do(t, s, agreed(replyOf(t, loweringOf(t, s), d.grace, d.clk.Now())))
	if st := s.Snapshot().State; st.Severity != "SEV-3" || st.Worst != "SEV-1" || s.Snapshot().Lowers != nil {
		t.Errorf("it is %s, at its worst %s, and waits: %+v", st.Severity, st.Worst, s.Snapshot().Lowers)
	}
	tape, err := replay.Open(path, looking(d.cfg))
	if err != nil {
		t.Fatal(err)
	}
	waits := false
	for i := 0; ; i++ {
		tape.Go(i)
		lowers := tape.Snapshot().Lowers
		waits = waits || lowers != nil && len(lowers.Lacks) > 0 && lowers.Request != ""
		if at, last := tape.Place(); at == last && i >= last {
			break
		}
	}
	if !waits {
		t.Error("the replay does not show that it waits")
	}
}

// TestBundleIsHeldToItsLowerings: by the signatures, and by the verifier's policy.
func TestBundleIsHeldToItsLowerings(t *testing.T) {
	t.Parallel()
	lowered := func(t *testing.T, d *duo, two bool) string {
		s := d.start(t)
		do(t, s, level("SEV-1"))
		do(t, s, level("SEV-3"))
		if two {
			do(t, s, agreed(replyOf(t, loweringOf(t, s), d.grace, d.clk.Now())))
		}
		if got := s.Snapshot().State.Severity; got != "SEV-3" {
			t.Fatalf("it is %s", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return s.Snapshot().Bundle
	}
	two, one := bySeverity(t), newStage(t)
	byTwo, byOne := lowered(t, two, true), lowered(t, &duo{stage: one}, false)
	asks := func(q policy.Question) (string, error) {
		if q.To == "SEV-3" && q.Severity == "SEV-1" {
			return "your policy asks two", nil
		}
		return "", nil
	}
	for name, tc := range map[string]struct {
		path  string
		may   *sig.Signers
		asks  func(policy.Question) (string, error)
		fault string
	}{
		"by two":              {byTwo, two.pair.Signers, asks, ""},
		"by one":              {byOne, two.pair.Signers, asks, "on one person's word"},
		"by a stranger":       {byTwo, nil, asks, "without an approver whom your policy names"},
		"cannot tell":         {byOne, two.pair.Signers, func(policy.Question) (string, error) { return "", os.ErrNotExist }, "unknown"},
		"asks for no one":     {byOne, nil, func(policy.Question) (string, error) { return "", nil }, ""},
		"another's signature": {rewrite(t, two, byTwo, func(a *triage.Approve) { a.Key = "SHA256:other" }), two.pair.Signers, asks, "named"},
	} {
		rep, err := audit.Bundle(tc.path, one.w, audit.Verifier{Signers: two.pair.Signers, Policy: &audit.Policy{May: tc.may, Asks: tc.asks}})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, l := range rep.Lines {
			if !l.OK {
				said += l.Detail + "; "
			}
		}
		switch {
		case tc.fault == "" && said != "", tc.fault != "named" && !strings.Contains(said, tc.fault), tc.fault == "named" && said == "":
			t.Errorf("%s: %q, want %q", name, said, tc.fault)
		}
	}
	rep, err := audit.Bundle(rewrite(t, two, byTwo, nil), two.w, audit.Verifier{Signers: two.pair.Signers})
	if err != nil || rep.OK() {
		t.Errorf("without its approval: %+v, %v", rep.Lines, err)
	}
}

// TestScriptLowersTheSeverity with the approval of a second person, before the close,
// and not what was set on the call.
func TestScriptLowersTheSeverity(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		approval, why string
		before        []triage.Intent
		code          int
		want          triage.Severity
	}{
		"approved":        {"approval: there", "", nil, walk.CodeDone, "SEV-4"},
		"no file":         {"", "severity.approval", nil, walk.CodeRefused, "SEV-3"},
		"set on the call": {"approval: there", "", []triage.Intent{level("SEV-2")}, walk.CodeDone, "SEV-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := bySeverity(t)
			d.rb = scripted(t).rb
			s := d.start(t)
			for _, in := range tc.before {
				do(t, s, in)
			}
			var talk strings.Builder
			by := says(t, script+"severity: {level: SEV-4, why: it is over, "+tc.approval+"}\n", &talk)
			by.Approval = func(string) (string, error) {
				return replyOf(t, loweringOf(t, s), d.grace, d.clk.Now()), nil
			}
			got, err := walk.Play(t.Context(), s, by)
			if st := s.Snapshot().State; err != nil || got.Code != tc.code || !strings.Contains(got.Why, tc.why) || st.Severity != tc.want {
				t.Errorf("Play = %+v, %v at %s, want code %d at %s\n%s", got, err, st.Severity, tc.code, tc.want, talk.String())
			}
		})
	}
}
