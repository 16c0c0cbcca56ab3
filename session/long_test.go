package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// vast is a world of many long addresses: a probe that lists them, a gate that
// shows them all, and an act that answers with them.
type vast struct {
	*world
	addresses []string
}

func (w vast) Kinds() []steps.Kind {
	out := append(w.world.Kinds(), steps.Kind{
		Name: "test/many", Doc: "lists addresses", Class: steps.Probe, Touches: []string{"memory"},
		Facts: []steps.Field{{Name: "addresses", Type: steps.Strings}, {Name: "kinds", Type: steps.Table}},
		Reads: func(steps.Env) steps.Prober { return w },
	})
	for i := range out {
		if was := out[i].Changes; was != nil {
			out[i].Changes = func(e steps.Env) steps.Gater { return vastGate{was(e).(unlockGate), w} }
		}
	}
	return out
}

func (w vast) Lookup(name string) (steps.Kind, bool) {
	kinds := w.Kinds()
	i := slices.IndexFunc(kinds, func(k steps.Kind) bool { return k.Name == name })
	if i < 0 {
		return steps.Kind{}, false
	}
	return kinds[i], true
}

func (w vast) Probe(context.Context, steps.Params, steps.Sink) (steps.Observation, error) {
	kinds := map[string]string{}
	for _, a := range w.addresses {
		kinds[a] = "created"
	}
	return steps.Observation{
		Summary: fmt.Sprintf("%d addresses", len(w.addresses)), Command: "state list " + strings.Join(w.addresses, " "),
		Facts:    map[string]steps.Value{"addresses": steps.StringsOf(w.addresses), "kinds": steps.TableOf(kinds)},
		Findings: []steps.Finding{{Level: steps.Warning, Say: "left over: " + strings.Join(w.addresses, ", ")}},
		Gaps:     []string{"not looked at: " + strings.Join(w.addresses, ", ")},
	}, nil
}

type vastGate struct {
	unlockGate
	w vast
}

func (g vastGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	p, err := g.unlockGate.Preview(ctx, in, out)
	p.Effect = strings.Join(g.w.addresses, "\n")
	p.Target = append(p.Target, steps.KV{Key: "addresses", Value: strings.Join(g.w.addresses, "\n")})
	return p, err
}

func (g vastGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	o, err := g.unlockGate.Act(ctx, a, out)
	o.Response = strings.Join(g.w.addresses, "\n")
	o.After = append(o.After, steps.KV{Key: "addresses", Value: o.Response})
	return o, err
}

// longAddresses are what 5,000 instances of a deep module are called.
func longAddresses(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`module.platform["eu-central-1"].module.tenants["customer-%05d"].%skubernetes_network_policy_v1.allow["namespace-%05d/ingress-from-the-gateway"]`, i, strings.Repeat("module.layer_of_the_stack.", 5), i)
	}
	return out
}

// stageOf is a stage on which n addresses are there, and the gate depends on all
// of them.
func stageOf(t *testing.T, n int) (*stage, vast) {
	t.Helper()
	st := newStage(t)
	w := vast{st.w, longAddresses(n)}
	st.cfg.Catalog = w
	src := strings.Replace(book, "mutation:\n", "  - id: many\n    uses: test/many\n    required: true\nmutation:\n", 1)
	src = strings.Replace(src, "    require:\n", fmt.Sprintf("    require:\n      - {when: \"size(facts.many.addresses) == %d && size(facts.many.kinds) == %d\", else: some are missing}\n", n, n), 1)
	rb, err := runbooks.Parse("test-lock.yaml", []byte(src), w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	return st, w
}

// An incident about 5,000 objects with long addresses is walked to its act like
// any other, and is resumed, read, audited and verified.
func TestFiveThousandAddresses(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	const n = 5000
	st, w := stageOf(t, n)
	if len(w.addresses[0]) < 200 {
		t.Fatalf("an address has %d characters", len(w.addresses[0]))
	}
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/many"})
	ready(t, s)
	do(t, s, triage.Intent{Kind: triage.DoNote, Text: strings.Join(w.addresses, "\n")})
	do(t, s, preview())
	cfg, path := image(t, st, s.Snapshot().Bundle)
	do(t, s, confirm())
	snap := s.Snapshot()
	if g := snap.State.Gates[gateID]; g.Phase != triage.GateDone || !strings.HasSuffix(g.Response, w.addresses[n-1]) || snap.Dead != "" {
		t.Fatalf("gate = %s after %d bytes, dead %q", g.Phase, len(g.Response), snap.Dead)
	}
	if got, err := journal.LoadState(snap.Bundle); err != nil || !got.Equal(snap.State) {
		t.Errorf("read from the disk it is another incident: %v", err)
	}
	if a, err := audit.Bundle(snap.Bundle, w, audit.Verifier{}); err != nil || !a.OK() {
		t.Errorf("Audit = %+v, %v", a.Lines, err)
	}
	if r, err := evidence.Verify(snap.Bundle); err != nil || !r.OK() {
		t.Errorf("Verify = %+v, %v", r, err)
	}
	again, err := session.Resume(t.Context(), cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	st.w.lock = "l-1"
	step, _ := again.Snapshot().State.Step("test-lock/many")
	if got := step.Facts["addresses"].Text(); strings.Count(got, "customer-") != n {
		t.Errorf("after resume %d addresses are known", strings.Count(got, "customer-"))
	}
	do(t, again, preview())
	do(t, again, confirm())
	if g := again.Snapshot().State.Gates[gateID]; g.Phase != triage.GateDone {
		t.Errorf("after resume the gate is %s: %s", g.Phase, g.Why)
	}
}

// A read that keeps more artifacts than an entry can name is recorded with those
// that it can.
func TestMoreArtifactsThanAnEntryNames(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	w := littered{vast{st.w, nil}}
	st.cfg.Catalog = w
	rb, err := runbooks.Parse("test-lock.yaml", []byte(strings.Replace(book, "mutation:\n", "  - id: many\n    uses: test/many\nmutation:\n", 1)), w)
	if err != nil {
		t.Fatal(err)
	}
	st.rb = rb
	s := st.start(t)
	do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/many"})
	snap := s.Snapshot()
	step, _ := snap.State.Step("test-lock/many")
	if snap.Dead != "" || step.Status == triage.Running || len(step.Gaps) == 0 || !strings.Contains(step.Gaps[len(step.Gaps)-1], "more artifacts are not listed") {
		t.Errorf("dead %q, step %s with gaps %q", snap.Dead, step.Status, step.Gaps)
	}
}

// littered is a probe that keeps 1,100 artifacts with long roles.
type littered struct{ vast }

func (w littered) Kinds() []steps.Kind {
	out := w.vast.Kinds()
	for i := range out {
		if out[i].Name == "test/many" {
			out[i].Reads = func(steps.Env) steps.Prober { return w }
		}
	}
	return out
}

func (w littered) Lookup(name string) (steps.Kind, bool) {
	kinds := w.Kinds()
	i := slices.IndexFunc(kinds, func(k steps.Kind) bool { return k.Name == name })
	if i < 0 {
		return steps.Kind{}, false
	}
	return kinds[i], true
}

func (w littered) Probe(_ context.Context, _ steps.Params, out steps.Sink) (steps.Observation, error) {
	for i := range 1100 {
		a := out.Artifact(fmt.Sprintf("%s %d", strings.Repeat("role ", 1000), i), steps.MediaText)
		if err := a.Close(); err != nil { // all the same empty one
			return steps.Observation{}, err
		}
	}
	return steps.Observation{Summary: "all of them"}, nil
}
