package session

import (
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
	if err := s.passOver(p); err != nil {
		return err
	}
	s.refreshCards()
	return nil
}

// passOver skips the steps that the parameters alone rule out, so that nobody
// is asked for them.
func (s *Session) passOver(p triage.Plan) error {
	for _, st := range p.Steps {
		if st.Kind == triage.GateStep || st.Required {
			continue
		}
		for _, v := range s.judge(st.ID) {
			if v.Result != "false" || len(v.Refs) > 0 {
				continue
			}
			if err := s.record(triage.Skip{Step: st.ID, Why: "does not apply: " + v.Expr}, nil); err != nil {
				return err
			}
			break
		}
	}
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
	case triage.SeverityAsk:
		return b.Step
	case triage.GateAnswered:
		return b.Step
	case triage.GateClosed:
		return b.Step
	case triage.ActStart:
		return b.Step
	case triage.ActEnd:
		return b.Step
	case triage.ActAgain:
		return b.Step
	case triage.DebtOpened:
		return b.Of
	}
	return ""
}
