package session

import (
	"encoding/json"
	"fmt"
	"strings"

	"handrail/evidence"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/triage"
)

// plan stores a runbook as a blob and records its compiled skeleton.
func (s *Session) plan(rb *runbooks.Runbook, params steps.Params, from string) error {
	w, err := s.bundle.Blob("runbook", "application/yaml")
	if err != nil {
		return s.die(err)
	}
	if _, err := w.Write(rb.Source); err != nil {
		w.Abort()
		return s.die(err)
	}
	blob, err := w.Commit()
	if err != nil {
		return s.die(err)
	}
	p := rb.Plan(params)
	p.Blob, p.From = blob.SHA256, from
	s.books[rb.ID] = rb
	if err := s.record(p, []evidence.Blob{blob}); err != nil {
		return err
	}
	s.refreshCards()
	return nil
}

// takeUp goes on with another runbook in the same incident.
func (s *Session) takeUp(in triage.Intent) error {
	if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	rb, err := s.cfg.Library(in.Value)
	if err != nil {
		return err
	}
	params, err := rb.Bind(in.Params)
	if err != nil {
		return err
	}
	return s.plan(rb, params, s.state.Plan().Runbook)
}

// event turns a plain intent into its event.
func (s *Session) event(in triage.Intent) (triage.Body, error) {
	switch in.Kind {
	case triage.DoAnswer:
		return triage.Answer{Step: in.Step, Value: in.Value, How: in.Text}, nil
	case triage.DoManual:
		return triage.Manual{Step: in.Step, Proof: in.Text}, nil
	case triage.DoSkip:
		return triage.Skip{Step: in.Step, Why: in.Text}, nil
	case triage.DoConclude:
		value, grounds, _ := s.propose(in.Topic)
		return triage.Conclude{Topic: in.Topic, Value: in.Value, Proposed: value, Grounds: grounds,
			Why: in.Text, Person: in.Person, Provisional: in.Provisional}, nil
	case triage.DoDisarm:
		return triage.GateClosed{Step: in.Step, Digest: s.state.Gates[in.Step].Digest, Why: in.Text}, nil
	case triage.DoApprove:
		return triage.Approve{Digest: in.Digest, Person: in.Person, Sig: in.Sig}, nil
	case triage.DoSeverity:
		return triage.SeveritySet{Level: in.Severity, Why: in.Text}, nil
	case triage.DoPhase:
		return triage.PhaseSet{To: in.Phase, Why: in.Text}, nil
	case triage.DoNote:
		return triage.Note{Text: in.Text}, nil
	case triage.DoCorrect:
		return triage.Correct{Seq: in.Entry, Text: in.Text}, nil
	case triage.DoPerson:
		return in.Who, nil
	case triage.DoSettle:
		return in.Debt, nil
	case triage.DoWaive:
		return triage.Waive{Law: in.Law, Subject: in.Step, Person: in.Person, Why: in.Text}, nil
	case triage.DoClose:
		return triage.Close{Outcome: in.Value, Why: in.Text}, nil
	}
	return nil, fmt.Errorf("intent %q has no event", in.Kind)
}

// propose asks the runbook in force what the facts say of a topic.
func (s *Session) propose(t triage.Topic) (value string, grounds []string, say string) {
	rb := s.books[s.state.Plan().Runbook]
	if rb == nil {
		return triage.Unknown, nil, ""
	}
	return rb.Propose(t, s.vars(rb.ID, false))
}

// stepOf returns the step of an event, "" for none.
func stepOf(b triage.Body) string {
	switch b := b.(type) {
	case triage.Skip:
		return b.Step
	case triage.Answer:
		return b.Step
	case triage.Manual:
		return b.Step
	case triage.ProbeStart:
		return b.Step
	case triage.ProbeEnd:
		return b.Step
	case triage.GateShown:
		return b.Step
	case triage.GateAnswered:
		return b.Step
	case triage.GateClosed:
		return b.Step
	case triage.ActStart:
		return b.Step
	case triage.ActEnd:
		return b.Step
	case triage.DebtOpened:
		return b.Of
	}
	return ""
}

// bare is the id of a step without its runbook.
func bare(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[i+1:]
	}
	return step
}

// bookOf is the runbook of a step.
func bookOf(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[:i]
	}
	return ""
}

// stored turns a value into the form of the journal.
func stored(v steps.Value) triage.Value {
	var out triage.Value
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return triage.Value{T: string(v.Type()), Unknown: "could not be written: " + err.Error()}
	}
	return out
}

// loaded turns a value of the journal back.
func loaded(v triage.Value) steps.Value {
	var out steps.Value
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return steps.Unknown(steps.Type(v.T), "could not be read back: "+err.Error())
	}
	return out
}

func storedAll(m map[string]steps.Value) map[string]triage.Value {
	if m == nil {
		return nil
	}
	out := make(map[string]triage.Value, len(m))
	for k, v := range m {
		out[k] = stored(v)
	}
	return out
}
