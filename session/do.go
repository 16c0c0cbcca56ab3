package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"handrail/session/report"
	"handrail/triage"
)

// Do carries out one intent. A nil error means that what it recorded is
// durable; a probe goes on beside it, and an act too once its confirmation is
// recorded and its target was read again. *triage.Refused says that the loop
// does not allow the intent now.
func (s *Session) Do(ctx context.Context, in triage.Intent) error {
	switch in.Kind {
	case triage.DoProbe:
		return s.call(ctx, func() error { return s.startProbe(in) })
	case triage.DoCancel, triage.DoInterrupt:
		return s.call(ctx, func() error { return s.cancelStep(in) })
	case triage.DoPreview:
		return s.preview(ctx, in)
	case triage.DoConfirm:
		return s.confirm(ctx, in)
	case triage.DoApprove:
		return s.approve(ctx, in)
	case triage.DoSeverity:
		return s.severity(ctx, in)
	case triage.DoClose:
		return s.closeIncident(ctx, in)
	case triage.DoPlan:
		return s.call(ctx, func() error { return s.takeUp(in) })
	default:
		return s.call(ctx, func() error { return s.plain(in) })
	}
}

// DoAll carries out intents of one sheet, each by itself and in their order: the result of
// each is that of Do. Words are recorded in one call, so that what may be shown and done after
// them is worked out once.
func (s *Session) DoAll(ctx context.Context, ins []triage.Intent) []error {
	out := make([]error, len(ins))
	if slices.ContainsFunc(ins, func(in triage.Intent) bool { return !wordsOnly(in.Kind) }) {
		for i, in := range ins {
			out[i] = s.Do(ctx, in)
		}
		return out
	}
	done := 0
	err := s.call(ctx, func() error {
		for ; done < len(ins); done++ {
			out[done] = s.plain(ins[done])
		}
		return nil
	})
	for ; err != nil && done < len(ins); done++ {
		out[done] = err // none was begun, or the first of these ended the recording
	}
	return out
}

// wordsOnly reports whether an intent is what a person says, and nothing is read for it.
func wordsOnly(k triage.IntentKind) bool {
	return k == triage.DoAnswer || k == triage.DoManual || k == triage.DoConclude || k == triage.DoResolve
}

// cancelStep stops a running probe, or sends one interrupt to a running act.
func (s *Session) cancelStep(in triage.Intent) error {
	f := s.flight[in.Step]
	if f == nil {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: "nothing is running in this step"}}}
	}
	if f.act && in.Kind != triage.DoInterrupt {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{
			Why: "an act is running, and leaving it half done is worse", Cure: "wait, or interrupt it explicitly"}}}
	}
	f.cancel()
	return nil
}

// plain records an intent that is one event and nothing else.
func (s *Session) plain(in triage.Intent) error {
	var grounds []string
	switch in.Kind {
	case triage.DoConclude:
		in.Proposed, grounds, _ = s.scene().Propose(in.Topic)
	case triage.DoAnswer:
		in.Proposed = s.scene().ProposeAnswer(in.Step)
	}
	if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	if r := s.scene().Words(in); r != nil {
		return r
	}
	if err := s.enter(in); err != nil {
		return err
	}
	body, ok := triage.Draft(s.state, in)
	if !ok {
		return fmt.Errorf("intent %q is not known to this session", in.Kind)
	}
	if c, ok := body.(triage.Conclude); ok {
		c.Grounds = grounds
		body = c
	}
	if in.Kind == triage.DoDisarm {
		s.front = nil
	}
	if err := s.record(body, nil); err != nil {
		return err
	}
	if in.Kind == triage.DoClose {
		return errors.Join(report.Write(s.path, s.state), s.forgetPlans())
	}
	if in.Kind == triage.DoConclude || in.Kind == triage.DoWaive {
		s.retext() // the owner follows the domain, and the class what cannot be had any more
	}
	if in.Kind == triage.DoAnswer {
		s.retext()
		if err := s.compareRead(); err != nil {
			return err
		}
	}
	return s.oweRest()
}
