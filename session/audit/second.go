package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/triage"
)

// secondPerson is the property of a bundle in which a gate needed two persons.
// That none of them acted without an approval is a law of the fold; that each
// approval is a signature, and whose, is looked at here.
const secondPerson = "second person"

// maxPairs bounds what is kept of a bundle that may be a stranger's.
const maxPairs = 100

type pairs struct {
	asked, approved, acts int
	by                    []string // who approved, and the key
	wrong                 []string
	unknown               bool // a key that the verifier does not know
}

func (p *pairs) fault(e evidence.Entry, format string, args ...any) {
	if len(p.wrong) < maxPairs {
		p.wrong = append(p.wrong, fmt.Sprintf("entry %d: ", e.Seq)+fmt.Sprintf(format, args...))
	}
}

// shownToTwo looks at a gate that asked for a second person.
func (a *auditor) shownToTwo(e evidence.Entry, b triage.GateShown) {
	if b.Second == nil {
		return
	}
	a.pairs.asked++
	if err := a.requests[b.Step].Sound(); err != nil {
		a.pairs.fault(e, "%s: %v", b.Step, err)
	}
}

// approval checks the signature of an approval that a gate needed.
func (a *auditor) approval(e evidence.Entry, before triage.State, b triage.Approve) {
	for _, r := range a.requests {
		g := before.Waits(r.Shown.Step)
		if r.Shown.Digest != b.Digest || g.Digest != b.Digest || g.ShownSeq != r.Seq {
			continue
		}
		a.pairs.approved++
		a.held.approval(r, b, e)
		text, err := r.Signed(b.Signed)
		if err != nil {
			a.pairs.fault(e, "%v", err)
			return
		}
		at, err := e.Time()
		if err != nil {
			a.pairs.fault(e, "%v", err)
			return
		}
		who, err := a.signers.Approver([]byte(b.Sig), text, at)
		switch {
		case errors.Is(err, sig.ErrNotOfThis):
			a.pairs.fault(e, "the approval of %s by %s is not a signature of what it showed: %v", r.Shown.Step, b.Person, err)
		case who.Key != b.Key:
			a.pairs.fault(e, "the approval of %s names the key %s, and %s signed it", r.Shown.Step, b.Key, who.Key)
		case errors.Is(err, sig.ErrMayNot):
			a.pairs.fault(e, "the approval of %s by %s: %v", r.Shown.Step, b.Person, err)
		case err != nil:
			a.pairs.unknown = true
			a.pairs.note(fmt.Sprintf("%s, it says, with a key unknown to you (%s)", b.Person, b.Key))
		default:
			a.pairs.note(fmt.Sprintf("%s (%s)", strings.Join(who.Who, ", "), b.Key))
		}
		return
	}
}

func (p *pairs) note(who string) {
	if len(p.by) < maxPairs && !slices.Contains(p.by, who) {
		p.by = append(p.by, who)
	}
}

// line is the property; false where no gate needed two persons.
func (p *pairs) line() (Line, bool) {
	if p.asked == 0 {
		return Line{}, false
	}
	out := Line{Property: secondPerson, OK: len(p.wrong) == 0, Said: p.unknown}
	if !out.OK {
		out.Said, out.Detail = false, p.wrong[0]
		return out, true
	}
	out.Detail = fmt.Sprintf("previews that asked for one: %d; approvals: %d; acts: %d, each approved before", p.asked, p.approved, p.acts)
	if len(p.by) > 0 {
		out.Detail += "; by " + strings.Join(p.by, "; ")
	}
	return out, true
}
