package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Sought is a gate as a policy sees it, or a lowering of the severity.
type Sought struct {
	Kind     string // of the step
	Class    triage.Class
	Severity triage.Severity // the worst that the incident ever had
	Header   []steps.KV      // cluster, namespace, host
	Target   []steps.KV      // what the target tells of its place: server, workspace, directory, backend, context
	To       triage.Severity // it is no gate: the severity would be lowered to this; "" for a gate
	Drill    bool
}

// Pair says that policy asks for a second person.
type Pair struct {
	Why     string       // what the policy says, in a sentence
	Signers *sig.Signers // whose approval counts
	Own     []string     // fingerprints of keys at the operator's own hand
}

// maxMay bounds how many approvers are named.
const maxMay = 50

// sought asks the policy of a gate whose target tells its place so, beside the owner.
// An error refuses the gate.
func (s *Session) sought(ctx context.Context, step string, target []steps.KV) (*Pair, error) {
	if s.cfg.Second == nil {
		return nil, nil
	}
	var q Sought
	err := s.call(ctx, func() error {
		q = soughtOf(s.state, s.header, step, target)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.askPolicy(ctx, q)
}

// askPolicy asks the policy of a gate as it is seen. An error refuses the gate.
func (s *Session) askPolicy(ctx context.Context, q Sought) (*Pair, error) {
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
func (s *Session) soughtAsShown(ctx context.Context, step string) (*Pair, error) {
	var where []steps.KV
	var lower *Sought
	if err := s.call(ctx, func() error {
		shown := s.state.Waits(step).Shown
		where = shownWhere(shown)
		if step == triage.SeverityGate {
			q := soughtLowering(s.state, triage.SeverityAsk{GateShown: shown}.Lowers())
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

// policyError: nobody can tell whether a second person is asked for.
type policyError struct{ err error }

func (e *policyError) Error() string { return e.err.Error() }
func (e *policyError) Unwrap() error { return e.err }

const mendPolicy = "mend the policy, then preview it again; until then nobody can tell whether a second person must agree"

// policyRefusal is what a gate is refused with while its policy cannot be read;
// other errors pass.
func policyRefusal(in triage.Intent, err error) error {
	var p *policyError
	if !errors.As(err, &p) {
		return err
	}
	return refusal(in, triage.Refusal{Why: p.Error(), Cure: mendPolicy})
}

// second is what a preview says of the second person that policy asks for.
func (s *Session) second(pair *Pair, step string, verdicts []triage.Verdict, where []steps.KV) *triage.Second {
	if pair == nil {
		return nil
	}
	st, _ := s.state.Step(step)
	out := &triage.Second{Why: pair.Why, Title: s.state.Title, Severity: s.state.Severity, Own: pair.Own, May: pair.Signers.Approvers(maxMay), Where: journal.StoredLines(append(slices.Clone(s.header), where...))}
	for _, who := range append([]string{s.state.Operator, s.actor, s.cfg.Actor.Subject}, s.proven...) {
		if who != "" && !slices.Contains(out.Asks, who) {
			out.Asks = append(out.Asks, who)
		}
	}
	for _, c := range s.cited(verdicts, st) {
		out.Stands = append(out.Stands, triage.Ground{Seq: c.Seq, Step: c.Step, Text: c.Text, At: c.At})
	}
	return out
}

// asksSecond reports whether an entry of a type may ask for a second person.
func asksSecond(typ string) bool { return typ == "gate.shown" || typ == "severity.ask" }

// keepRequest notes what a gate that was just shown asks of a second person, or a
// lowering of the severity.
func keepRequest(requests map[string]approval.Request, incident string, e evidence.Entry) {
	delete(requests, e.Step)
	if r, err := approval.NewRequest(incident, e.Seq, e.Data); err == nil {
		requests[r.Shown.Step] = r
	}
}

// sendable disarms a gate whose request nobody could approve: redaction touched
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
	return s.disarm(in, s.state.Gates[in.Step], "no second person could approve it: "+err.Error(), nil)
}

// alone says why a gate that was shown for one person may not go with one now,
// "" where it may: policy, severity or place may have changed meanwhile.
func alone(shown triage.GateShown, pair *Pair, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case pair != nil && shown.Second == nil:
		return "policy asks for a second person now: " + pair.Why
	}
	return ""
}

// approve takes the approval of a second person: it must be a signature of what
// the gate shows, by somebody whom the policy names.
func (s *Session) approve(ctx context.Context, in triage.Intent) error {
	pair, err := s.soughtAsShown(ctx, in.Step)
	if err != nil {
		return policyRefusal(in, err)
	}
	return s.call(ctx, func() error {
		r, ok := s.requests[in.Step]
		g := s.state.Waits(in.Step)
		if !ok || g.Shown.Second == nil || g.Phase != triage.GateArmed {
			return refusal(in, triage.Refusal{Why: "no gate waits for an approval", Cure: "Open its preview first, and send the request that it makes."})
		}
		in, no := s.approved(in, r, pair)
		if no != nil {
			return no
		}
		if r := triage.Check(s.state, in, s.cfg.Now(), s.judge); r != nil {
			return withCure(r, "Somebody else answers the request: "+strings.Join(g.Shown.Second.May, "; "))
		}
		body, _ := triage.Draft(s.state, in)
		if err := s.record(body, nil); err != nil || in.Step != triage.SeverityGate {
			return err
		}
		return s.lower()
	})
}

func withCure(r *triage.Refused, cure string) *triage.Refused {
	for i := range r.Refusals {
		if r.Refusals[i].Cure == "" {
			r.Refusals[i].Cure = cure
		}
	}
	return r
}

// approved fills an intent in with who signed what and when, or says why the
// approval does not count.
func (s *Session) approved(in triage.Intent, r approval.Request, pair *Pair) (triage.Intent, *triage.Refused) {
	no := func(why, cure string) (triage.Intent, *triage.Refused) {
		return in, refusal(in, triage.Refusal{Why: s.bundle.Redact(why), Cure: cure})
	}
	const again = "Copy the request again, have it approved, and paste the answer whole."
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
		return no("the policy names nobody any more who may approve it", "Preview the gate again.")
	}
	who, err := pair.Signers.Approver(a.Sig, text, s.cfg.Now())
	may := "One of these may: " + strings.Join(pair.Signers.Approvers(maxMay), "; ")
	switch {
	case errors.Is(err, sig.ErrNotOfThis):
		return no("it is not an approval of what this gate shows now; it may be of an earlier preview, or was changed on its way", again)
	case errors.Is(err, sig.ErrUnknownSigner):
		return no("the key "+who.Key+" is none of those who may approve", may)
	case err != nil:
		return no(err.Error(), may)
	}
	armour := string(a.Sig)
	if s.bundle.Redact(armour) != armour {
		return no("a secret of this session stands in the signature, so that it cannot be kept", "Have it approved again; another signature is another text.")
	}
	in.Digest, in.Person, in.Sig, in.Key, in.Signed = r.Shown.Digest, strings.Join(who.Who, ", "), armour, who.Key, a.Signed.UTC()
	return in, nil
}
