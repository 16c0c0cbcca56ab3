package session

import (
	"context"
	"fmt"
	"slices"

	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// severity sets the severity. Where policy asks two persons to lower it, a second one
// is asked first, as at a gate: what that person signs is what is then set.
func (s *Session) severity(ctx context.Context, in triage.Intent) error {
	var q policy.Question
	lowers := false
	err := s.call(ctx, func() error {
		lowers = in.Severity > s.state.Severity // SEV-1 is the worst
		q = policy.OfLowering(s.state, in.Severity)
		return nil
	})
	if err != nil {
		return err
	}
	if !lowers {
		return s.call(ctx, func() error { return s.plain(in) })
	}
	pair, err := s.askPolicy(ctx, q)
	if err != nil {
		return policyRefusal(in, err)
	}
	return s.call(ctx, func() error {
		if now := policy.OfLowering(s.state, in.Severity); now.Severity != q.Severity {
			return refusal(in, triage.Refusal{Why: "the severity changed in the meantime", Cure: "Set it again."})
		}
		if pair == nil {
			return s.plain(in)
		}
		if set, ok := s.state.Lowered(s.cfg.Now()); ok && set.Level == in.Severity && s.revoked(s.state.Lowering, pair) == "" {
			return s.record(set, nil) // handrail ended between the approval and this
		}
		return s.askToLower(in, pair)
	})
}

// askToLower shows a second person what would be lowered, and why.
func (s *Session) askToLower(in triage.Intent, pair *policy.Pair) error {
	may := in
	may.Severity = s.state.Severity // whether it may be set at all now, and with these words
	if r := triage.Check(s.state, may, s.cfg.Now(), s.judge); r != nil {
		return r
	}
	p := s.redacted(steps.Preview{
		Effect:  fmt.Sprintf("take the incident from %s down to %s", s.state.Severity, in.Severity),
		Target:  s.state.LoweringTo(in.Severity, in.Text),
		Request: "severity " + string(in.Severity), Command: "severity " + string(in.Severity),
		Phrase: "lower to " + string(in.Severity), Undo: "set it to " + string(s.state.Severity) + " again, which one person can",
	})
	ask := triage.SeverityAsk{GateShown: triage.GateShown{
		Step: triage.SeverityGate, Digest: string(p.Digest(s.state.Incident, triage.SeverityGate)), Effect: p.Effect, Target: lines(p.Target),
		Request: p.Request, Command: p.Command, Phrase: p.Phrase, Undo: p.Undo, Until: s.cfg.Now().Add(armedForTwo).UTC(),
		Second: s.second(pair, triage.SeverityGate, nil, nil), Where: slices.Clone(s.header), Rules: s.rules(),
	}}
	if err := s.record(ask, nil); err != nil {
		return err
	}
	if err := s.requests[triage.SeverityGate].Sound(); err != nil {
		return refusal(in, triage.Refusal{Why: "no second person can approve it: " + err.Error(), Cure: "State the reason in other words."})
	}
	return nil
}

// lower sets what a second person has just approved.
func (s *Session) lower() error {
	set, ok := s.state.Lowered(s.cfg.Now())
	if !ok {
		return refusal(triage.Intent{Kind: triage.DoSeverity}, triage.Refusal{Why: "the approval no longer counts", Cure: "Set the severity again, and send the new request."})
	}
	return s.record(set, nil)
}
