package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/session"
	"handrail/session/claim"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// held is an incident whose executor is ordered and does not begin before the test
// lets it.
func held(t *testing.T, d *duo) (*session.Session, session.Order) {
	t.Helper()
	orders := make(chan session.Order, 1)
	d.cfg.Execute = func(_ steps.Env, o session.Order) (<-chan struct{}, error) {
		orders <- o
		return make(chan struct{}), nil
	}
	s := d.start(t)
	ready(t, s)
	d.clk.forward(14 * time.Minute) // facts hold for fifteen
	do(t, s, preview())
	if d.pair != nil {
		do(t, s, approve(replyOf(t, request(t, s), d.grace, d.clk.Now().Add(-9*time.Minute)))) // and an approval for ten
	}
	if err := s.Do(t.Context(), confirm()); err != nil {
		t.Fatal(err)
	}
	return s, <-orders
}

// TestExecutorJudgesAgain: between the phrase and the act a lid was closed, or the
// call learned something. The executor asks all that the gate asked.
func TestExecutorJudgesAgain(t *testing.T) {
	t.Parallel()
	say := func(in triage.Intent) func(*testing.T, *duo, *session.Session) {
		return func(t *testing.T, _ *duo, s *session.Session) {
			if err := s.Do(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
	}
	asleep := func(d *duo, by time.Duration) {
		d.clk.forward(by)
		d.at.set(func(m *claim.Machine) { m.Up += by })
	}
	for name, tc := range map[string]struct {
		pair bool
		then func(*testing.T, *duo, *session.Session)
		want string // "" for an act
	}{
		"at once":             {false, func(*testing.T, *duo, *session.Session) {}, ""},
		"at once, two":        {true, func(*testing.T, *duo, *session.Session) {}, ""},
		"half a minute later": {false, func(_ *testing.T, d *duo, _ *session.Session) { asleep(d, 30*time.Second) }, ""},
		"lid closed":          {false, func(_ *testing.T, d *duo, _ *session.Session) { asleep(d, 8*time.Hour+55*time.Minute) }, "expired"},
		"lid closed, clock set back": {false, func(_ *testing.T, d *duo, _ *session.Session) {
			d.at.set(func(m *claim.Machine) { m.Up += 3 * time.Minute })
		}, "3m0s passed"},
		"lid closed as the act reads": {false, func(_ *testing.T, d *duo, _ *session.Session) {
			d.w.onAct = func() { d.at.set(func(m *claim.Machine) { m.Up += 3 * time.Minute }) }
		}, "3m0s passed"},
		"slow reads of the act": {false, func(_ *testing.T, d *duo, _ *session.Session) {
			d.w.onAct = func() { d.at.set(func(m *claim.Machine) { m.Up += 110 * time.Second }) }
		}, ""},
		"started again": {false, func(_ *testing.T, d *duo, _ *session.Session) { d.at.set(func(m *claim.Machine) { m.Boot = "b-2" }) }, "was restarted"},
		"facts too old": {false, func(_ *testing.T, d *duo, _ *session.Session) { asleep(d, 90*time.Second) }, "more than 15m"},
		"owner not paused": {false, func(_ *testing.T, d *duo, _ *session.Session) {
			d.w.owners = []steps.Owner{{Name: "flux", Paused: "no"}}
		}, "flux may undo it"},
		"a second person asked": {false, func(_ *testing.T, d *duo, _ *session.Session) { d.pair = &policy.Pair{Why: "two persons"} }, "policy asks for a second person now"},
		"policy broken":         {false, func(_ *testing.T, d *duo, _ *session.Session) { d.err = errors.New("policy.yaml:3: half of a policy") }, "half of a policy"},
		"approver struck off": {true, func(t *testing.T, d *duo, _ *session.Session) {
			d.pair = &policy.Pair{Why: d.pair.Why, Signers: allow(t, map[string]ssh.Signer{"olga@example.com": d.op})}
		}, "no longer counts"},
		"holder alive after all": {false, say(triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "alive", Text: "it came back"}), "nobody says it is dead"},
		"class unknown after all": {false, say(triage.Intent{Kind: triage.DoConclude, Topic: triage.TopicClass, Value: triage.Unknown, Text: "it was another"}),
			"not classified"},
		"mutation no word":         {false, say(triage.Intent{Kind: triage.DoNote, Text: "a word changes nothing"}), ""},
		"the target moved as well": {false, func(_ *testing.T, d *duo, _ *session.Session) { d.w.lock = "l-2" }, "moved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDuo(t)
			if !tc.pair {
				d.pair = nil
			}
			d.cfg.Second = func(context.Context, policy.Question) (*policy.Pair, error) { return d.pair, d.err }
			s, o := held(t, d)
			tc.then(t, d, s)
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
			g := again.Snapshot().State.Gates[gateID]
			if tc.want == "" {
				if d.w.acts != 1 || g.Phase != triage.GateDone {
					t.Fatalf("%d acts, gate = %s %q, want it done", d.w.acts, g.Phase, g.Response)
				}
				return
			}
			if d.w.acts != 0 || g.Phase != triage.GateRefused || !strings.HasPrefix(g.Response, "nothing was sent") || !strings.Contains(g.Response, tc.want) {
				t.Fatalf("%d acts, gate = %s %q, want nothing sent because %q", d.w.acts, g.Phase, g.Response, tc.want)
			}
		})
	}
}

// TestExecutorWithoutAClockOfItsMachine goes by that of the day.
func TestExecutorWithoutAClockOfItsMachine(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{time.Minute: 1, 150 * time.Second: 0} {
		st, o := cutAct(t)
		st.at.set(func(m *claim.Machine) { m.Up = 0 })
		st.clk.forward(wait)
		if err := session.Carry(t.Context(), st.cfg, o); err != nil {
			t.Fatal(err)
		}
		if st.w.acts != want {
			t.Errorf("%d acts after %s, want %d", st.w.acts, wait, want)
		}
	}
}
