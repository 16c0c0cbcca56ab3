package session_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/session"
	"handrail/session/claim"
	"handrail/session/replay"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// world is a target in memory with one probe and one gate: what the conductor
// does is tested here, what real kinds do is tested against real servers.
type world struct {
	mu      sync.Mutex
	lock    string // id of the lock, "" when free
	acts    int
	reads   int
	onRead  func(n int, w *world) // runs before the nth preview
	onAct   func()                // runs in an act, before it sends anything
	acting  chan struct{}         // closed by the test to let an act end; nil for at once
	started chan struct{}
	panics  bool
	stray   bool // the probe gives a fact that its kind does not declare
	fails   error

	// What the gate says besides, for tests of what may be shown.
	secret                 string
	place                  string // the directory that it tells, beside the target
	owners                 []steps.Owner
	unmet                  []steps.Need
	pays                   []steps.Debt // what the gate pays once it is done
	owes                   []steps.Debt
	after                  []steps.KV
	previewFails, actFails error
	prior                  *steps.Prior  // what the act is undone from
	again                  time.Duration // after an act its target is read again
	onAgain                func(*world)  // runs before it is
}

func (w *world) Lookup(name string) (steps.Kind, bool) {
	for _, k := range w.Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return steps.Kind{}, false
}

func (w *world) Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "test/lock", Doc: "reads the lock", Class: steps.Probe, Touches: []string{"memory"},
			Facts: []steps.Field{{Name: "held", Type: steps.Bool}, {Name: "id", Type: steps.Ident}},
			Reads: func(steps.Env) steps.Prober { return lockProbe{w} },
		},
		{
			Name: "test/unlock", Doc: "takes the lock away", Class: steps.Release, Touches: []string{"memory"},
			Params:  []steps.Field{{Name: "id", Type: steps.Ident, Required: true}},
			Changes: func(steps.Env) steps.Gater { return unlockGate{w} }, Again: w.again,
		},
	}
}

type lockProbe struct{ w *world }

func (p lockProbe) Probe(ctx context.Context, _ steps.Params, out steps.Sink) (steps.Observation, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.w.panics {
		panic("a bug in a probe")
	}
	if p.w.fails != nil {
		return steps.Observation{}, p.w.fails
	}
	a := out.Artifact("lock", steps.MediaText)
	if _, err := a.Write([]byte("lock " + p.w.lock + "\n")); err != nil {
		return steps.Observation{}, err
	}
	if err := a.Close(); err != nil {
		return steps.Observation{}, err
	}
	kind, _ := p.w.Lookup("test/lock")
	facts := steps.NewFacts(kind.Facts)
	facts.Set("held", steps.BoolOf(p.w.lock != ""))
	facts.Set("id", steps.IdentOf(p.w.lock))
	if p.w.stray {
		facts.Set("owner", steps.StringOf("ci"))
	}
	return steps.Observation{Summary: "lock " + p.w.lock, Facts: facts.Rest("not read")}, nil
}

type unlockGate struct{ w *world }

func (g unlockGate) Preview(_ context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.reads++
	if g.w.onRead != nil {
		g.w.onRead(g.w.reads, g.w)
	}
	if g.w.secret != "" {
		out.Secret(g.w.secret)
	}
	if g.w.previewFails != nil {
		return steps.Preview{}, g.w.previewFails
	}
	p := steps.Preview{
		Target: []steps.KV{{Key: "lock", Value: g.w.lock}}, Effect: "takes the lock away", Request: "unlock " + g.w.lock,
		Command: "unlock " + g.w.lock, Phrase: steps.Phrase("unlock", in.Text("id")), Undo: "cannot be undone",
		Owes: []steps.Debt{{Kind: "unfinished", Text: "the run did not finish"}}, Owners: g.w.owners, Unmet: g.w.unmet,
		Prior: g.w.prior, Args: g.w.lock,
	}
	if g.w.place != "" {
		p.Shown = append(p.Shown, steps.KV{Key: "directory", Value: g.w.place})
	}
	if g.w.owes != nil {
		p.Owes = g.w.owes
	}
	p.Pays = g.w.pays
	if g.w.lock == "" {
		p.Unmet = append(p.Unmet, steps.Need{Why: "nothing is locked"})
	}
	return p, nil
}

func (g unlockGate) Act(ctx context.Context, a *steps.Approval, _ steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	if lock, err := steps.ArgsOf[string](p); err != nil || lock != steps.Find(p.Target, "lock") {
		return steps.Outcome{}, fmt.Errorf("the act is given the lock %q, error %v", lock, err)
	}
	if g.w.onAct != nil {
		g.w.onAct() // it reads once more, and may take long
	}
	if err := steps.Begin(ctx); err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was sent: " + err.Error()}, nil
	}
	if g.w.started != nil {
		close(g.w.started)
	}
	if g.w.acting != nil {
		<-g.w.acting
	}
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.w.acts++
	g.w.lock = ""
	return steps.Outcome{Result: steps.Done, Response: "unlocked", After: append([]steps.KV{{Key: "lock", Value: ""}}, g.w.after...)}, g.w.actFails
}

func (g unlockGate) Find(_ context.Context, before []steps.KV, _ steps.Params, _ steps.Sink) (steps.Outcome, error) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.previewFails != nil {
		return steps.Outcome{}, g.w.previewFails
	}
	if steps.Find(before, "lock") == g.w.lock {
		return steps.Outcome{Result: steps.Failed, Response: "the lock is as it was"}, nil
	}
	return steps.Outcome{Result: steps.Done, Response: "the lock is gone"}, nil
}

func (g unlockGate) Again(_ context.Context, _ []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.w.onAgain != nil {
		g.w.onAgain(g.w)
	}
	if g.w.secret != "" {
		out.Secret(g.w.secret)
	}
	if g.w.previewFails != nil {
		return steps.Outcome{}, g.w.previewFails
	}
	after := []steps.KV{{Key: "lock", Value: g.w.lock}}
	if g.w.lock != "" {
		return steps.Outcome{Result: steps.Failed, Response: "somebody took the lock again " + g.w.secret, After: after}, nil
	}
	return steps.Outcome{Result: steps.Done, Response: "the lock is free", After: after}, nil
}

const book = `apiVersion: handrail/v1
kind: Runbook
id: test-lock
title: A test lock
domain: state-backend
severity: SEV-3
preserve:
  - id: lock
    uses: test/lock
    required: true
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
      - {when: "answers.holder == 'dead'", else: nobody says it is dead}
verify:
  - id: free
    watch: test/lock
    when: "!facts.free.held"
    greens: 2
    apart: 20s
`

// clock is a clock that a test moves; a watch asks it how long to wait.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type stage struct {
	w   *world
	clk *clock
	cfg session.Config
	rb  *runbooks.Runbook
	at  machineClock
}

// machineClock is a machine that a test starts again, or puts to sleep.
type machineClock struct {
	mu  sync.Mutex
	now claim.Machine
}

func (m *machineClock) Now() claim.Machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *machineClock) set(f func(*claim.Machine)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.now)
}

func newStage(t testing.TB) *stage {
	t.Helper()
	w := &world{lock: "l-1"}
	rb, err := runbooks.Parse("test-lock.yaml", []byte(book), w)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	clk := &clock{now: time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)}
	st := &stage{w: w, clk: clk, rb: rb, at: machineClock{now: claim.Machine{Host: "here", Boot: "boot-1", ID: "machine-1", Up: time.Hour}}, cfg: session.Config{
		Dir: dir + "/incidents", Keys: dir + "/keys", Acts: dir + "/acts", Undo: dir + "/undo", Catalog: w, Now: clk.Now, Rand: rand.Reader, Version: "test",
		Actor:   triage.Person{ID: "op", Name: "operator", Proof: "os", Subject: "op"},
		Library: func(string) (*runbooks.Runbook, error) { return nil, errors.New("no library here") },
	}}
	st.cfg.Machine = st.at.Now
	return st
}

func (st *stage) start(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.Start(t.Context(), st.cfg, session.Begin{Runbook: st.rb})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// quiet waits until nothing runs.
func quiet(t *testing.T, s *session.Session) view.Snapshot {
	t.Helper()
	for {
		if snap := s.Snapshot(); len(snap.Running) == 0 {
			return snap
		}
		select {
		case <-s.Changed():
		case <-t.Context().Done():
			t.Fatal("the session never became quiet")
		}
	}
}

func do(t *testing.T, s *session.Session, in triage.Intent) {
	t.Helper()
	if err := s.Do(t.Context(), in); err != nil {
		t.Fatalf("Do(%s %s) = %v", in.Kind, in.Step, err)
	}
	quiet(t, s)
}

// ready walks up to the gate.
func ready(t *testing.T, s *session.Session) {
	t.Helper()
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "seen"})
	do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "yes"})
	do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicConsistent, Value: "no"})
	do(t, s, triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicClass, Value: "MutationPartiallySucceeded"})
	gate, _ := s.Snapshot().State.Step(gateID)
	if !slices.Contains(triage.RecordKinds(), gate.Uses) {
		return
	}
	answer := triage.DriftAnswer{Person: "ana"}
	for _, q := range s.Snapshot().State.Undrifted() {
		answer.Answers = append(answer.Answers, triage.KV{Key: q.ID, Value: "change 7"})
	}
	do(t, s, triage.Intent{Kind: triage.DoDrift, Drift: answer})
}

func confirm() triage.Intent {
	return triage.Intent{Kind: triage.DoConfirm, Step: "test-lock/unlock", Typed: "unlock l-1"}
}

func preview() triage.Intent {
	return triage.Intent{Kind: triage.DoPreview, Step: "test-lock/unlock"}
}

// inAct is a stage whose act has begun and does not end before st.w.acting is
// closed.
func inAct(t *testing.T) (*stage, *session.Session) {
	t.Helper()
	st := newStage(t)
	st.w.acting, st.w.started = make(chan struct{}), make(chan struct{})
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	if err := s.Do(t.Context(), confirm()); err != nil {
		t.Fatal(err)
	}
	<-st.w.started
	return st, s
}

// looking is who looks on at what c records.
func looking(c session.Config) replay.Config {
	return replay.Config{Catalog: c.Catalog, Library: c.Library, Now: c.Now}
}
