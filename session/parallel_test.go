package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
)

// slowWorld has probes that say something and then wait to be let go.
type slowWorld struct {
	world
	began chan string
	let   chan struct{}
}

func (w *slowWorld) Lookup(name string) (steps.Kind, bool) {
	for _, k := range w.Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return steps.Kind{}, false
}

func (w *slowWorld) Kinds() []steps.Kind {
	slow := func(name string, class steps.Class) steps.Kind {
		return steps.Kind{Name: name, Doc: "waits", Class: class, Touches: []string{"memory"},
			Facts: []steps.Field{{Name: "seen", Type: steps.Bool}},
			Reads: func(steps.Env) steps.Prober { return slowProbe{w, name} }}
	}
	return append(w.world.Kinds(), slow("test/slow", steps.Probe), slow("test/plan", steps.Heavy))
}

type slowProbe struct {
	w    *slowWorld
	name string
}

func (p slowProbe) Probe(ctx context.Context, _ steps.Params, out steps.Sink) (steps.Observation, error) {
	out.Line("looking with hunter2-hunter2")
	out.Secret("hunter2-hunter2")
	out.Line("still looking with hunter2-hunter2")
	for _, l := range []string{"password = <<EOT", "-----BEGIN EC PRIVATE KEY-----", "MHcCAQEEIExampleExampleExample", "-----END EC PRIVATE KEY-----"} {
		out.Line(l)
	}
	p.w.began <- p.name
	select {
	case <-p.w.let:
	case <-ctx.Done():
		return steps.Observation{}, ctx.Err()
	}
	return steps.Observation{Summary: "seen", Facts: map[string]steps.Value{"seen": steps.BoolOf(true)}}, nil
}

const slowBook = `apiVersion: handrail/v1
kind: Runbook
id: slow
title: Slow reads
domain: state-backend
severity: SEV-3
preserve:
  - {id: one, uses: test/slow, required: true}
  - {id: two, uses: test/slow}
  - {id: plan, uses: test/plan}
  - {id: after, uses: test/slow, when: facts.one.seen}
`

// TestReadsSideBySide: several probes run at once, each with its own deadline,
// output and end; one is cancelled and the others go on.
func TestReadsSideBySide(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	w := &slowWorld{began: make(chan string, 3), let: make(chan struct{})}
	rb, err := runbooks.Parse("slow.yaml", []byte(slowBook), w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb, st.cfg.Catalog = rb, w
	s := st.start(t)
	for _, step := range []string{"slow/one", "slow/two", "slow/plan"} {
		if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoProbe, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		<-w.began
	}
	snap := s.Snapshot()
	if len(snap.Running) != 3 {
		t.Fatalf("%d probes run, want 3", len(snap.Running))
	}
	for _, r := range snap.Running {
		want := map[string]time.Duration{"slow/one": time.Minute, "slow/two": time.Minute, "slow/plan": 15 * time.Minute}[r.Step]
		if got := r.Until.Sub(r.Started); got != want {
			t.Errorf("%s is cut off after %v, want %v", r.Step, got, want)
		}
		b := make([]byte, r.Log.Now().Size())
		if _, err := r.Log.Now().ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "MHcCAQ") || !strings.HasPrefix(string(b), "looking with ") {
			t.Errorf("the log of %s is %q", r.Step, b)
		}
	}
	if rs := snap.Cards["slow/after"].Shut; len(rs) == 0 {
		t.Error("a probe whose condition is not known to hold is not said to be shut")
	}
	if rs := snap.Cards["slow/one"].Shut; len(rs) > 0 {
		t.Errorf("a probe that runs is shut: %+v", rs)
	}

	log := running(snap, "slow/two").Log
	if err := s.Do(t.Context(), triage.Intent{Kind: triage.DoCancel, Step: "slow/two"}); err != nil {
		t.Fatal(err)
	}
	for len(s.Snapshot().Running) != 2 {
		<-s.Changed()
	}
	if st, _ := s.Snapshot().State.Step("slow/two"); st.Outcome != "cancelled" || st.Status != triage.CannotTell {
		t.Errorf("the cancelled probe is %s, %s", st.Outcome, st.Status)
	}
	if now := log.Now(); !now.Over || now.Size() == 0 {
		t.Errorf("what a probe printed cannot be read after its end: %+v", now)
	}
	close(w.let)
	snap = quiet(t, s)
	for _, id := range []string{"slow/one", "slow/plan"} {
		if st, _ := snap.State.Step(id); st.Status != triage.Settled {
			t.Errorf("%s is %s", id, st.Status)
		}
	}
	if rs := snap.Cards["slow/after"].Shut; len(rs) > 0 {
		t.Errorf("its condition holds, and it is shut: %+v", rs)
	}
}

func running(s view.Snapshot, step string) view.Running {
	for _, r := range s.Running {
		if r.Step == step {
			return r
		}
	}
	return view.Running{}
}
