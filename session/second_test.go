package session_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/sig"
	"handrail/session"
	"handrail/session/approval"
	"handrail/session/audit"
	"handrail/session/policy"
	"handrail/session/replay"
	"handrail/steps"
	"handrail/triage"
)

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func allow(t testing.TB, who map[string]ssh.Signer) *sig.Signers {
	t.Helper()
	var text strings.Builder
	for name, key := range who {
		fmt.Fprintf(&text, "%s %s", name, ssh.MarshalAuthorizedKey(key.PublicKey()))
	}
	s, err := sig.ParseSigners([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// duo is a stage whose gate needs a second person.
type duo struct {
	*stage
	grace, op, eve ssh.Signer
	pair           *policy.Pair
	err            error
}

func newDuo(t *testing.T) *duo {
	t.Helper()
	d := &duo{stage: newStage(t), grace: newKey(t), op: newKey(t), eve: newKey(t)}
	d.pair = &policy.Pair{Why: "two persons take locks away", Own: []string{ssh.FingerprintSHA256(d.op.PublicKey())},
		Signers: allow(t, map[string]ssh.Signer{"grace@example.com": d.grace, "olga@example.com": d.op})}
	d.cfg.Header = []steps.KV{{Key: "cluster", Value: "prod-eu (https://api.example.com)"}}
	d.cfg.Second = func(context.Context, policy.Question) (*policy.Pair, error) { return d.pair, d.err }
	return d
}

// request is what the gate in front asks.
func request(t *testing.T, s *session.Session) approval.Request {
	t.Helper()
	g := s.Snapshot().Gate
	if g == nil || g.Second == nil || g.Second.Request == "" {
		t.Fatalf("gate = %+v, want one with a request", g)
	}
	r, err := approval.ParseRequest("hi all,\n" + strings.ReplaceAll(g.Second.Request, "\n", "\r\n") + "\nthanks")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// replyOf is what an approver sends back.
func replyOf(t *testing.T, r approval.Request, key ssh.Signer, at time.Time) string {
	t.Helper()
	if err := r.Sound(); err != nil {
		t.Fatal(err)
	}
	text, err := r.Signed(at)
	if err != nil {
		t.Fatal(err)
	}
	armour, err := sig.SignApproval(key, text)
	if err != nil {
		t.Fatal(err)
	}
	return approval.Approval{Digest: r.Shown.Digest, Signed: at, Sig: armour}.Line()
}

func approve(line string) triage.Intent {
	return triage.Intent{Kind: triage.DoApprove, Step: "test-lock/unlock", Sig: line}
}

func refusals(t *testing.T, err error, want string) {
	t.Helper()
	var r *triage.Refused
	if !errors.As(err, &r) || !strings.Contains(r.Error(), want) {
		t.Fatalf("= %v, want a refusal with %q", err, want)
	}
	for _, f := range r.Refusals {
		if f.Cure == "" {
			t.Errorf("%q says nothing of what to do", f.Why)
		}
	}
}

func TestTwoPersonsEndToEnd(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	g := s.Snapshot().Gate
	if until := g.Until.Sub(d.clk.Now()); until < 29*time.Minute || until > 30*time.Minute {
		t.Errorf("it is armed for %s, want 30m", until)
	}
	if len(g.Second.Lacks) == 0 || !slices.Contains(g.Second.May, "grace@example.com") {
		t.Errorf("second = %+v, want who is missing", g.Second)
	}
	refusals(t, s.Do(t.Context(), confirm()), "a second person has not approved it")
	r := request(t, s)
	if sec := r.Shown.Second; sec.Title == "" || len(sec.Stands) == 0 || len(sec.Where) == 0 || !slices.Contains(sec.Asks, "op") {
		t.Errorf("the approver sees %+v: too little", sec)
	}
	do(t, s, approve(replyOf(t, r, d.grace, d.clk.Now())))
	if sec := s.Snapshot().Gate.Second; sec.Lacks != nil || len(sec.By) != 1 || sec.By[0].Person != "grace@example.com" {
		t.Fatalf("second = %+v, want approved by grace", sec)
	}
	do(t, s, confirm())
	if d.w.acts != 1 {
		t.Fatalf("%d acts, want 1", d.w.acts)
	}
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := audit.Bundle(path, d.w, audit.Verifier{Signers: d.pair.Signers})
	if err != nil || !rep.OK() || !tells(rep, "second person", "grace@example.com", false) {
		t.Errorf("AuditBy = %+v, %v", rep.Lines, err)
	}
	rep, err = audit.Bundle(path, d.w, audit.Verifier{})
	if err != nil || !rep.OK() || !tells(rep, "second person", "unknown to you", true) {
		t.Errorf("Audit by a stranger = %+v, %v", rep.Lines, err)
	}
	tape, err := replay.Open(path, looking(d.cfg))
	if err != nil {
		t.Fatal(err)
	}
	waits, approved := false, false
	for i := 0; ; i++ {
		tape.Go(i)
		if g := tape.Snapshot().Gate; g != nil && g.Second != nil && g.Phase == triage.GateArmed {
			waits = waits || len(g.Second.Lacks) > 0 && g.Second.Request == r.Text()
			approved = approved || len(g.Second.By) == 1 && len(g.Second.Lacks) == 0
		}
		if at, last := tape.Place(); at == last && i >= last {
			break
		}
	}
	if !waits || !approved {
		t.Errorf("the replay shows it waiting: %t, approved: %t", waits, approved)
	}
}

func tells(rep audit.Report, property, detail string, said bool) bool {
	return slices.ContainsFunc(rep.Lines, func(l audit.Line) bool {
		return l.Property == property && l.OK && l.Said == said && strings.Contains(l.Detail, detail)
	})
}

func TestApprovalsThatDoNotCount(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	s := d.start(t)
	ready(t, s)
	refusals(t, s.Do(t.Context(), approve("x")), "no gate is waiting for an approval")
	do(t, s, preview())
	r := request(t, s)
	good := replyOf(t, r, d.grace, d.clk.Now())
	before := s.Snapshot().State.Seq
	for name, tc := range map[string]struct{ line, why string }{
		"nothing":         {"", "does not begin with"},
		"prose":           {"ok by me", "does not begin with"},
		"cut off":         {good[:40], "cut off"},
		"damaged":         {good[:len(good)-8] + "!" + good[len(good)-7:], "damaged"},
		"other bits":      {strings.Replace(good, good[len(good)-30:len(good)-20], "AAAAAAAAAA", 1), "not an approval of what this gate shows"},
		"other time":      {strings.Replace(good, " 2026-11-21T", " 2026-11-22T", 1), "not an approval of what this gate shows"},
		"other digest":    {strings.Replace(good, r.Shown.Digest[:12], "0123456789ab", 1), "it approves 012345"},
		"unknown signer":  {replyOf(t, r, d.eve, d.clk.Now()), "does not belong to an approver"},
		"key of operator": {replyOf(t, r, d.op, d.clk.Now()), "belongs to the operator"},
		"long ago":        {replyOf(t, r, d.grace, d.clk.Now().Add(-11*time.Minute)), "expires"},
		"from the future": {replyOf(t, r, d.grace, d.clk.Now().Add(time.Hour)), "in the future"},
	} {
		refusals(t, s.Do(t.Context(), approve(tc.line)), tc.why)
		if s.Snapshot().State.Seq != before {
			t.Fatalf("%s: it was recorded", name)
		}
	}
	// The same target shown again is another showing: the old answer is not taken.
	do(t, s, triage.Intent{Kind: triage.DoDisarm, Step: "test-lock/unlock", Text: "esc"})
	do(t, s, preview())
	refusals(t, s.Do(t.Context(), approve(good)), "not an approval of what this gate shows now")
	// An approval lapses ten minutes after it was signed.
	do(t, s, approve("  "+strings.Join(strings.SplitAfter(replyOf(t, request(t, s), d.grace, d.clk.Now()), "U1NIU0lH"), "\n")+"\n"))
	d.clk.forward(10 * time.Minute)
	refusals(t, s.Do(t.Context(), confirm()), "has expired")
	do(t, s, approve(replyOf(t, request(t, s), d.grace, d.clk.Now())))
	d.clk.forward(4 * time.Minute) // what it stands on is fresh for fifteen minutes
	do(t, s, confirm())
	if d.w.acts != 1 {
		t.Errorf("%d acts, want 1", d.w.acts)
	}
}

// TestSamePersonByName: who signs with a key of their own is still the operator.
func TestSamePersonByName(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	d.pair.Signers = allow(t, map[string]ssh.Signer{"op@example.com": d.grace})
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	refusals(t, s.Do(t.Context(), approve(replyOf(t, request(t, s), d.grace, d.clk.Now()))), "is the operator")
}

func TestPolicyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	d.pair, d.err = nil, errors.New("policy.yaml:3:1: unknown key")
	s := d.start(t)
	ready(t, s)
	refusals(t, s.Do(t.Context(), preview()), "policy.yaml:3:1")
	if d.w.reads != 0 || s.Snapshot().State.Gates["test-lock/unlock"].Why == "" {
		t.Errorf("the gate read its target %d times, or its refusal is not recorded", d.w.reads)
	}
	d.err = nil
	do(t, s, preview())
	// What policy says changes while the gate is armed: one person is not enough any more.
	for _, change := range []func(){
		func() { d.err = errors.New("gone") },
		func() { d.pair = &policy.Pair{Why: "since now", Signers: allow(t, nil)} },
	} {
		d.pair, d.err = nil, nil
		do(t, s, preview())
		change()
		if err := s.Do(t.Context(), confirm()); err == nil || d.w.acts != 0 {
			t.Errorf("confirm = %v after %d acts, want a refusal", err, d.w.acts)
		}
		if g := s.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateIdle {
			t.Errorf("gate = %s, want disarmed", g.Phase)
		}
	}
}

// TestAloneDuringTheReRead: what turns while the target is read again, after the
// phrase was typed, is noticed before the act.
func TestAloneDuringTheReRead(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]func(*duo){
		"the approval lapses":          func(d *duo) { d.clk.forward(10*time.Minute + time.Second) },
		"the policy cannot be read":    func(d *duo) { d.err = errors.New("gone") },
		"the policy asks for somebody": func(d *duo) { d.pair = &policy.Pair{Why: "since now"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuo(t)
			pair := d.pair
			if name == "the policy asks for somebody" {
				d.pair = nil
			}
			s := d.start(t)
			ready(t, s)
			d.w.onRead = func(n int, _ *world) {
				if n == 2 {
					turn(d)
				}
			}
			do(t, s, preview())
			if d.pair == pair {
				do(t, s, approve(replyOf(t, request(t, s), d.grace, d.clk.Now())))
			}
			refusals(t, s.Do(t.Context(), confirm()), "")
			if g := s.Snapshot().State.Gates["test-lock/unlock"]; g.Phase != triage.GateIdle || d.w.acts != 0 {
				t.Errorf("gate = %s after %d acts, want disarmed after none", g.Phase, d.w.acts)
			}
		})
	}
}

func TestRequestsOfStrangers(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	text := request(t, s).Text()
	lines := strings.Split(text, "\n")
	raw, err := base64.StdEncoding.DecodeString(strings.Join(lines[2:len(lines)-2], ""))
	if err != nil {
		t.Fatal(err)
	}
	forged := func(from, to string) string {
		return lines[1] + "\n" + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(string(raw), from, to))) + "\n" + lines[len(lines)-2]
	}
	for name, text := range map[string]string{
		"empty": "", "cut": text[:len(text)/2], "two": text + text, "not base64": strings.Replace(text, lines[3], "????", 1),
		"other version": forged(`"v":1`, `"v":2`), "one person": forged(`second`, `secund`), "huge": strings.Repeat("x", 3<<20),
	} {
		if _, err := approval.ParseRequest(text); !errors.Is(err, approval.ErrRequest) {
			t.Errorf("%s: ParseRequest = %v, want ErrRequest", name, err)
		}
	}
	for name, text := range map[string]string{
		"target": forged("l-1", "l-2"), "incident": forged("test-lock-", "best-lock-"), "two lines": forged(`test-lock/unlock`, `test-lock/unlock\\nx`),
	} {
		r, err := approval.ParseRequest(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := r.Sound(); err == nil {
			t.Errorf("%s: a request that shows something else than it asks for is sound", name)
		}
	}
	// What is no part of the digest is bound by the signature.
	r, err := approval.ParseRequest(forged("takes the lock away", "changes nothing"))
	if err != nil || r.Sound() != nil {
		t.Fatal(err, r.Sound())
	}
	refusals(t, s.Do(t.Context(), approve(replyOf(t, r, d.grace, d.clk.Now()))), "not an approval of what this gate shows now")
}
