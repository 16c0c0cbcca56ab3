package session_test

import (
	"sync/atomic"
	"testing"

	"handrail/session"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// closing is a switch by which a session becomes read-only.
type closing struct{ on atomic.Bool }

func (c *closing) ask(policy.Question) policy.Closed {
	if !c.on.Load() {
		return policy.Closed{}
	}
	return policy.Closed{By: "context prod-eu", Why: "config.yaml:3 closes the context prod-eu", Cure: "use another context"}
}

const closedWhy = "read-only: config.yaml:3 closes the context prod-eu"

// TestReadOnlySessionOpensNoGate, whenever it becomes read-only; everything that reads goes on.
func TestReadOnlySessionOpensNoGate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ begin, shown, reread bool }{
		"from the start":       {begin: true},
		"once shown":           {shown: true},
		"as it is read again":  {reread: true},
		"not read-only at all": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, sw := newDuo(t), &closing{}
			d.pair = nil
			d.cfg.ReadOnly = sw.ask
			sw.on.Store(tc.begin)
			s := d.start(t)
			ready(t, s)
			if got := s.Snapshot().ReadOnly; (got == "context prod-eu") != tc.begin {
				t.Errorf("the snapshot says %q", got)
			}
			if got := steps.Find(s.Snapshot().State.Rules, "read-only"); (got == "context prod-eu") != tc.begin {
				t.Errorf("the journal opens with %q", got)
			}
			do(t, s, triage.Intent{Kind: triage.DoSeverity, Severity: "SEV-1", Text: "as it looks"})
			do(t, s, triage.Intent{Kind: triage.DoSeverity, Severity: "SEV-3", Text: "better"})
			if tc.begin {
				refusals(t, s.Do(t.Context(), preview()), closedWhy)
				if n := d.w.reads; n != 0 {
					t.Errorf("the target was read %d times for nothing", n)
				}
			} else {
				do(t, s, preview())
			}
			if tc.reread {
				d.w.onRead = func(int, *world) { sw.on.Store(true) }
			}
			sw.on.Store(tc.begin || tc.shown)
			closed := tc.begin || tc.shown || tc.reread
			switch {
			case !closed:
				do(t, s, confirm())
			case tc.begin:
				refusals(t, s.Do(t.Context(), confirm()), "")
			default:
				refusals(t, s.Do(t.Context(), confirm()), closedWhy)
			}
			if g := s.Snapshot().State.Gates[gateID]; (d.w.acts == 0) != closed || closed && g.Phase == triage.GateArmed {
				t.Errorf("%d acts, the gate is %s", d.w.acts, g.Phase)
			}
		})
	}
}

// TestExecutorAsksWhetherItIsReadOnly: an act that was ordered before is not sent.
func TestExecutorAsksWhetherItIsReadOnly(t *testing.T) {
	t.Parallel()
	d, sw := newDuo(t), &closing{}
	d.pair, d.cfg.ReadOnly = nil, sw.ask
	s, o := held(t, d)
	sw.on.Store(true)
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := session.Carry(t.Context(), d.cfg, o); err != nil {
		t.Fatal(err)
	}
	again, err := session.Resume(t.Context(), d.cfg, path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if g := again.Snapshot().State.Gates[gateID]; d.w.acts != 0 || g.Response != "nothing was sent: "+closedWhy {
		t.Errorf("%d acts, gate = %s %q", d.w.acts, g.Phase, g.Response)
	}
}
