package session_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/triage"
)

// panicking is the world in which everything that can be called panics with the
// secret in its words.
type panicking struct {
	*world
	probe, act bool
}

func (w panicking) Lookup(name string) (steps.Kind, bool) {
	k, ok := w.world.Lookup(name)
	if k.Reads != nil && w.probe {
		k.Reads = func(steps.Env) steps.Prober { return panickingProbe{} }
	}
	if k.Changes != nil && w.act {
		inner := k.Changes
		k.Changes = func(e steps.Env) steps.Gater { return panickingGate{inner(e)} }
	}
	return k, ok
}

type panickingProbe struct{}

func (panickingProbe) Probe(_ context.Context, _ steps.Params, out steps.Sink) (steps.Observation, error) {
	out.Secret(leaked)
	panic("dialling with " + leaked)
}

type panickingGate struct{ steps.Gater }

func (panickingGate) Act(_ context.Context, _ *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	out.Secret(leaked)
	panic("sending " + leaked)
}

const panicsIn = "HANDRAIL_TEST_PANICS_IN"

// TestPanicsSayNothing runs a session that panics in a process of its own: what
// the runtime prints can be seen only there.
func TestPanicsSayNothing(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"probe": "test/lock: an internal error in handrail", "act": "unknown", "identify": "as before",
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPanicsInside$", "-test.v")
			cmd.Env = append(os.Environ(), panicsIn+"="+where, "TMPDIR="+dir)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
			if strings.Contains(out.String(), leaked) {
				t.Errorf("the output holds the secret:\n%s", out.String())
			}
			if !strings.Contains(out.String(), "it came to: "+want) {
				t.Errorf("the output is %q, want %q", out.String(), want)
			}
		})
	}
}

// TestPanicsInside is the other process; it does nothing elsewhere.
func TestPanicsInside(t *testing.T) {
	where := os.Getenv(panicsIn)
	if where == "" {
		return
	}
	st := newStage(t)
	st.cfg.Catalog = panicking{st.w, where == "probe", where == "act"}
	if where == "identify" {
		st.cfg.Identify = func(ctx context.Context, _ steps.Env) (triage.Person, error) {
			steps.TellSecret(ctx, leaked)
			panic("signing in with " + leaked)
		}
	}
	s := st.start(t)
	came := "as before"
	switch where {
	case "probe":
		do(t, s, triage.Intent{Kind: triage.DoProbe, Step: "test-lock/lock"})
		step, _ := s.Snapshot().State.Step("test-lock/lock")
		if step.Outcome != "failed" {
			t.Errorf("the probe is %s", step.Outcome)
		}
		came = step.Summary
	case "act":
		ready(t, s)
		do(t, s, preview())
		do(t, s, confirm())
		g := s.Snapshot().State.Gates[gateID]
		came = string(g.Phase) + ": " + g.Response
	}
	snap := s.Snapshot()
	if snap.Dead != "" {
		t.Errorf("the session is dead: %s", snap.Dead)
	}
	t.Logf("it came to: %s", came)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	clean(t, st.cfg.Dir, leaked)
	clean(t, st.cfg.Acts, leaked)
}
