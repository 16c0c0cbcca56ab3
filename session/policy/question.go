// Package policy puts the question that a team's policy answers: does this gate, or
// this lowering of the severity, need a second person?
//
// A [Question] tells what is about to be done and where. Where a gate acts is what
// the incident is about, and what the target itself tells ([Place]): a kubeconfig
// that names no production says nothing of a state that lies elsewhere. A target
// that tells nothing is an empty one, which a rule may take for its own place. The
// same question is put when a gate is shown, confirmed and carried out, and when a
// bundle is held to a policy later: [OfGate] and [OfLowering] build it from the
// state alone. What the policy says, and whose signature counts, is a [Pair]; the
// policy itself is read by who asks.
package policy

import (
	"slices"

	"handrail/evidence/sig"
	"handrail/steps"
	"handrail/triage"
)

// Question is a gate as a policy sees it, or a lowering of the severity.
type Question struct {
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

// Closed says why no gate opens, whatever the laws say; the zero one closes nothing.
type Closed struct {
	By   string // what says so, in few words: --readonly, a context, whose file
	Why  string // in a sentence, with the file and the line where a file says so
	Cure string
}

// OfGate is a gate as a policy sees it: what the journal tells of it, the header of
// today, and its target as it was read. Lines that the journal keeps of a gate that
// was shown are a target as well.
func OfGate(st triage.State, header []steps.KV, step string, target []steps.KV) Question {
	s, _ := st.Step(step)
	worst := st.Severity
	if st.Worst != "" {
		worst = min(worst, st.Worst)
	}
	return Question{Kind: s.Uses, Class: s.Class, Severity: worst, Header: slices.Clone(header), Target: target, Drill: st.Drill != ""}
}

// OfLowering is a lowering of the severity as a policy sees it.
func OfLowering(st triage.State, to triage.Severity) Question {
	q := OfGate(st, nil, "", nil)
	q.Kind, q.To = triage.SeverityGate, to
	return q
}
