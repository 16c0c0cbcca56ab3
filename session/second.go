package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence/sig"
	"handrail/session/approval"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// maxMay bounds how many approvers are named.
const maxMay = 50

// sought asks the policy of a gate whose target tells its place so, beside the owner.
// An error refuses the gate.
func (s *Session) sought(ctx context.Context, step string, target []steps.KV) (*policy.Pair, error) {
	if s.cfg.Second == nil && s.cfg.ReadOnly == nil {
		return nil, nil
	}
	var q policy.Question
	err := s.call(ctx, func() error {
		q = policy.OfGate(s.state, s.header, step, target)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.askPolicy(ctx, q)
}

// askPolicy asks the policy of a gate as it is seen, and whether anything may be changed at
// all. An error refuses the gate.
func (s *Session) askPolicy(ctx context.Context, q policy.Question) (*policy.Pair, error) {
	if err := s.mayOpen(q); err != nil {
		return nil, err
	}
	if s.cfg.Second == nil {
		return nil, nil
	}
	pair, err := s.cfg.Second(ctx, q)
	if err != nil {
		return nil, &policyError{s.said(err)}
	}
	return pair, nil
}

// soughtAsShown asks the policy of a gate by what its preview showed.
func (s *Session) soughtAsShown(ctx context.Context, step string) (*policy.Pair, error) {
	var where []steps.KV
	var lower *policy.Question
	if err := s.call(ctx, func() error {
		shown := s.state.Waits(step).Shown
		where = policy.Shown(shown)
		if step == triage.SeverityGate {
			q := policy.OfLowering(s.state, triage.SeverityAsk{GateShown: shown}.Lowers())
			lower = &q
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if lower != nil {
		return s.askPolicy(ctx, *lower)
	}
	return s.sought(ctx, step, where)
}

// policyError: whether a second person is asked for is not known.
type policyError struct{ err error }

func (e *policyError) Error() string { return e.err.Error() }
func (e *policyError) Unwrap() error { return e.err }

const mendPolicy = "fix the policy, then preview it again; until then it is unknown whether a second person must agree"

// policyRefusal is what a gate is refused with where nothing may be changed, and while its
// policy cannot be read; other errors pass.
func policyRefusal(in triage.Intent, err error) error {
	var c *closedError
	if errors.As(err, &c) {
		return refusal(in, triage.Refusal{Why: c.Why, Cure: c.Cure})
	}
	var p *policyError
	if !errors.As(err, &p) {
		return err
	}
	return refusal(in, triage.Refusal{Why: p.Error(), Cure: mendPolicy})
}

// second is what a preview says of the second person that policy asks for.
func (s *Session) second(pair *policy.Pair, step string, verdicts []triage.Verdict, where []steps.KV) *triage.Second {
	if pair == nil {
		return nil
	}
	st, _ := s.state.Step(step)
	out := &triage.Second{Why: pair.Why, Title: s.state.Title, Severity: s.state.Severity, Own: pair.Own, May: pair.Signers.Approvers(maxMay), Where: append(slices.Clone(s.header), where...)}
	for _, who := range append([]string{s.state.Operator, s.actor, s.cfg.Actor.Subject}, s.proven...) {
		if who != "" && !slices.Contains(out.Asks, who) {
			out.Asks = append(out.Asks, who)
		}
	}
	for _, c := range s.scene().Cited(verdicts, st) {
		out.Stands = append(out.Stands, triage.Ground{Seq: c.Seq, Step: c.Step, Text: c.Text, At: c.At})
	}
	return out
}

// sendable disarms a gate whose request could not be approved: redaction touched
// what identifies the target.
func (s *Session) sendable(in triage.Intent) error {
	r, ok := s.requests[in.Step]
	err := r.Sound()
	if ok && err == nil {
		return nil
	}
	if !ok {
		err = approval.ErrRequest
	}
	return s.disarm(in, s.state.Gates[in.Step], "no second person can approve it: "+err.Error(), nil)
}

// alone says why a gate that was shown for one person may not go with one now,
// "" where it may: policy, severity or place may have changed meanwhile.
func alone(shown triage.GateShown, pair *policy.Pair, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case pair != nil && shown.Second == nil:
		return "policy asks for a second person now: " + pair.Why
	}
	return ""
}

// approve takes the approval of a second person: it must be a signature of what
// the gate shows, by an approver whom the policy names.
func (s *Session) approve(ctx context.Context, in triage.Intent) error {
	pair, err := s.soughtAsShown(ctx, in.Step)
	if err != nil {
		return policyRefusal(in, err)
	}
	return s.call(ctx, func() error {
		r, ok := s.requests[in.Step]
		g := s.state.Waits(in.Step)
		if !ok || g.Shown.Second == nil || g.Phase != triage.GateArmed {
			return refusal(in, triage.Refusal{Why: "no gate is waiting for an approval", Cure: "Open its preview first, and send its request."})
		}
		in, no := s.approved(in, r, pair)
		if no != nil {
			return no
		}
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return withCure(r, "Another person must answer the request: "+strings.Join(g.Shown.Second.May, "; "))
		}
		body, _ := triage.Draft(s.state, in)
		if err := s.record(body, nil); err != nil || in.Step != triage.SeverityGate {
			return err
		}
		return s.lower()
	})
}

// approved fills an intent in with who signed what and when, or says why the
// approval does not count.
func (s *Session) approved(in triage.Intent, r approval.Request, pair *policy.Pair) (triage.Intent, *triage.Refused) {
	no := func(why, cure string) (triage.Intent, *triage.Refused) {
		return in, refusal(in, triage.Refusal{Why: s.bundle.Redact(why), Cure: cure})
	}
	const again = "Copy the request again, get it approved, and paste the complete answer."
	a, err := approval.ParseApproval(in.Sig)
	if err != nil {
		return no(err.Error(), again)
	}
	if a.Digest != r.Shown.Digest[:min(approval.DigestMark, len(r.Shown.Digest))] {
		return no(fmt.Sprintf("it approves %.6s, and this gate shows %.6s", a.Digest, r.Shown.Digest), again)
	}
	text, err := r.Signed(a.Signed)
	if err != nil {
		return no(err.Error(), again)
	}
	if pair == nil || pair.Signers == nil {
		return no("the policy no longer names anyone who may approve it", "Preview the gate again.")
	}
	who, err := pair.Signers.Approver(a.Sig, text, s.cfg.Now())
	may := "One of these may: " + strings.Join(pair.Signers.Approvers(maxMay), "; ")
	switch {
	case errors.Is(err, sig.ErrNotOfThis):
		return no("it is not an approval of what this gate shows now; it may be of an earlier preview, or was changed in transit", again)
	case errors.Is(err, sig.ErrUnknownSigner):
		return no("the key "+who.Key+" does not belong to an approver", may)
	case err != nil:
		return no(err.Error(), may)
	}
	armour := string(a.Sig)
	if s.bundle.Redact(armour) != armour {
		return no("the signature contains a secret of this session, so it cannot be kept", "Get it approved again; the new signature will differ.")
	}
	in.Digest, in.Person, in.Sig, in.Key, in.Signed = r.Shown.Digest, strings.Join(who.Who, ", "), armour, who.Key, a.Signed.UTC()
	return in, nil
}
