package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"handrail/session/debrief"
	"handrail/triage"
	"handrail/tui/run"
	"handrail/tui/screen"
)

// reference is how a drill was judged, and the path of its reference.
func reference(won bool, h string) *debrief.Drill {
	path, err := debrief.ParsePath(`read lock
read state
read process
read log
read ci_run
conclude domain state-backend
answer holder dead
conclude mutation yes
compare serials
conclude class MutationPartiallySucceeded
act unlock
watch clean
`)
	if err != nil {
		panic(err) // it stands above
	}
	d := &debrief.Drill{Name: "killed-runner" + h, Path: path, Judged: true, Won: won}
	for _, c := range []string{"!facts.l.held", "facts.s.serial == drill.serial", "facts.s.lineage == drill.lineage"} {
		d.Conditions = append(d.Conditions, debrief.Condition{Condition: c + h, Holds: true})
	}
	if !won {
		d.Conditions[0] = debrief.Condition{Condition: "!facts.l.held" + h, Why: "cannot be told: the state could not be read" + h}
		d.Shut = "unlock" + h
	}
	return d
}

// practises makes the incident a drill that ends so.
func (s *stage) practises(d *debrief.Drill, err error) {
	s.model.Config.Debrief = func(context.Context, screen.Incident) (*debrief.Drill, error) { return d, err }
}

func (s *stage) toWon() { s.practises(reference(true, ""), nil); s.toDebrief() }

// toLost has an attempt that was stopped, and another answer than the reference.
func (s *stage) toLost() { s.lose("") }

func (s *stage) lose(h string) {
	s.practises(reference(false, h), nil)
	s.pass(40 * time.Second)
	s.bench.record(triage.GateClosed{Step: id("unlock"), Why: "process 4711 of the holder is alive on this machine" + h, Refused: true})
	s.toFinding()
	s.press("c", "3", "enter")
	s.write("the holder lives")
	s.press("enter")
	s.write("aborted")
	s.press("enter")
}

func TestDrillIsJudgedAtItsClose(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	asked := 0
	s.model.Config.Debrief = func(_ context.Context, inc screen.Incident) (*debrief.Drill, error) {
		asked++
		if inc.Snapshot().State.Outcome == "" {
			t.Error("the drill is judged before the close")
		}
		return reference(true, ""), nil
	}
	s.toDebrief()
	s.want(t, "✓ RECOVERED", "✓ WON  drill killed-runner", "✓ !facts.l.held")
	// What is recorded later is not another close.
	s.press("t")
	s.write("x")
	s.press("enter")
	if asked != 1 {
		t.Errorf("it was judged %d times", asked)
	}
}

func TestDebriefStates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do   func(*stage)
		says []string
	}{
		"real incident": {(*stage).toDebrief, []string{"RECOVERED", "TIMINGS", "None: nothing unsafe was tried."}},
		"not judged":    {func(s *stage) { s.practises(nil, errors.New("the lab is gone")); s.toDebrief() }, []string{"! The drill could not be judged: the lab is gone"}},
		"lost": {(*stage).toLost, []string{"✗ NOT WON", "✗ !facts.l.held", "cannot be told", "✗ unlock", "process 4711", "THE REFERENCE", "– ", "= read     lock",
			"Here the gate unlock must stay shut"}},
		"judging": {func(s *stage) {
			s.toDebrief()
			s.run.After = run.Aftermath{Asked: true, Judging: true}
		}, []string{"● Judging the drill"}},
		"of another": {func(s *stage) {
			s.toDebrief()
			s.Update(run.JudgedMsg{Inc: newBench(s.clock.now, ""), Drill: reference(false, "")})
		}, []string{"RECOVERED"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, 140, 45, true, "")
			tc.do(s)
			s.want(t, tc.says...)
			if name == "of another" && s.run.After.Drill != nil {
				t.Error("the judgement of an incident that was left is shown")
			}
		})
	}
}
