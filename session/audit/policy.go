package audit

import (
	"fmt"
	"slices"

	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/session/approval"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
)

// heldToPolicy is the property of a bundle that is held to a policy of the verifier's.
const heldToPolicy = "policy"

// Verifier is who audits, and what they know that the bundle does not.
type Verifier struct {
	Signers *sig.Signers // whose approvals count; nil for none
	Policy  *Policy      // that the bundle is held to; nil for none
}

// Policy is one of the verifier's own.
type Policy struct {
	Digest string                                // of its file, as the journal keeps it
	May    *sig.Signers                          // who may approve by it
	Asks   func(policy.Question) (string, error) // why it asks for a second person, "" where it does not
}

// policyCheck holds a bundle to a policy.
type policyCheck struct {
	policy   *Policy
	asked    int
	acts     int
	other    bool            // another policy was in force, or none is recorded
	approved map[string]bool // digests with an approval that counts
	wrong    []string
}

func (h *policyCheck) fault(format string, args ...any) {
	if len(h.wrong) < auditFaults {
		h.wrong = append(h.wrong, fmt.Sprintf(format, args...))
	}
}

// shown notes which policy was in force.
func (h *policyCheck) shown(b triage.GateShown) {
	if h.policy != nil && !slices.ContainsFunc(b.Rules, func(kv triage.KV) bool { return kv.Value == h.policy.Digest }) {
		h.other = true
	}
}

// approval notes one that counts, by the verifier's policy.
func (h *policyCheck) approval(r approval.Request, b triage.Approve, e evidence.Entry) {
	if h.policy == nil || h.policy.May == nil {
		return
	}
	text, err := r.Signed(b.Signed)
	if err != nil {
		return
	}
	at, err := e.Time()
	if err != nil {
		return
	}
	if who, err := h.policy.May.Approver([]byte(b.Sig), text, at); err == nil && who.Key == b.Key {
		h.approved[b.Digest] = true
	}
}

// act holds an act to the policy. What a bundle does not tell of its place counts as
// the place that a rule is about.
func (h *policyCheck) act(e evidence.Entry, before triage.State, b triage.ActStart) {
	if h.policy == nil {
		return
	}
	h.acts++
	g := before.Gates[b.Step]
	header := []steps.KV{}
	if len(g.Shown.Where) == 0 {
		header = append(header, steps.KV{Key: "cluster", Value: "unknown: the bundle does not tell"})
	}
	why, err := h.policy.Asks(policy.OfGate(before, header, b.Step, policy.Shown(g.Shown)))
	switch {
	case err != nil:
		h.fault("entry %d: %s acted, and it is unknown whether your policy asks two persons for it: %v", e.Seq, b.Step, err)
	case why == "":
	case g.Shown.Second == nil:
		h.asked++
		h.fault("entry %d: %s acted on one person's word, and %s", e.Seq, b.Step, why)
	case !h.approved[b.Digest]:
		h.asked++
		h.fault("entry %d: %s acted without an approver whom your policy names, and %s", e.Seq, b.Step, why)
	default:
		h.asked++
	}
}

// severity holds a lowering to the policy.
func (h *policyCheck) severity(e evidence.Entry, before triage.State, b triage.SeveritySet) {
	if h.policy == nil || b.Level <= before.Severity { // SEV-1 is the worst
		return
	}
	why, err := h.policy.Asks(policy.OfLowering(before, b.Level))
	switch {
	case err != nil:
		h.fault("entry %d: the severity was lowered, and it is unknown whether your policy asks two persons for it: %v", e.Seq, err)
	case why == "" || h.approved[b.Digest]:
	case b.Digest == "":
		h.fault("entry %d: the severity was lowered on one person's word, and %s", e.Seq, why)
	default:
		h.fault("entry %d: the severity was lowered without an approver whom your policy names, and %s", e.Seq, why)
	}
}

// line is the property; false where no policy was brought.
func (h *policyCheck) line(drill string) (Line, bool) {
	if h.policy == nil {
		return Line{}, false
	}
	out := Line{Property: heldToPolicy, OK: len(h.wrong) == 0}
	if !out.OK {
		out.Detail = h.wrong[0]
		return out, true
	}
	out.Detail = fmt.Sprintf("acts: %d; your policy asks two persons for: %d, each approved before by who may", h.acts, h.asked)
	if drill != "" {
		out.Detail += "; it is practice, which needs no second person"
	}
	if h.other {
		out.Detail += "; another policy was in force, or none is recorded"
	}
	return out, true
}
