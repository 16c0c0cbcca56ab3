package session_test

import (
	"testing"
	"time"

	"handrail/triage"
)

// TestLateCallIsAskedAgain: a call that took longer than an answer is good for is
// asked again, in place of being led past the gate.
func TestLateCallIsAskedAgain(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	s := st.start(t)
	ready(t, s)
	next := func() triage.Option {
		do(t, s, triage.Intent{Kind: triage.DoNote, Text: "the call goes on"})
		for _, o := range s.Snapshot().Options {
			if o.Recommended {
				return o
			}
		}
		return triage.Option{}
	}
	for o := next(); o.Kind == triage.DoConclude || o.Kind == triage.DoAnswer || o.Kind == triage.DoManual; o = next() { // what comes before it
		in := triage.Intent{Kind: o.Kind, Step: o.Step, Topic: o.Topic, Text: "known", Person: "ana"}
		switch o.Kind {
		case triage.DoConclude:
			in.Value = map[triage.Topic]string{triage.TopicDomain: "state-backend", triage.TopicOwner: "platform", triage.TopicReverts: "no"}[o.Topic]
		case triage.DoAnswer:
			step, _ := s.Snapshot().State.Step(o.Step)
			in.Value = step.Answers[0]
		}
		do(t, s, in)
	}
	if o := next(); o.Kind != triage.DoPreview || o.Step != gateID {
		t.Fatalf("in time, %s %s is recommended", o.Kind, o.Step)
	}
	st.clk.forward(16 * time.Minute)
	if o := next(); o.Kind != triage.DoAnswer || o.Step != "test-lock/holder" {
		t.Errorf("too late, %s %s is recommended", o.Kind, o.Step)
	}
	do(t, s, triage.Intent{Kind: triage.DoAnswer, Step: "test-lock/holder", Value: "dead", Text: "looked again"})
	if o := next(); o.Kind == triage.DoAnswer || o.Kind == triage.DoClose {
		t.Errorf("answered again, %s %s is recommended", o.Kind, o.Step)
	}
}
