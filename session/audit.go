package session

import (
	"errors"
	"fmt"

	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// AuditLine is one property of the loop, and whether the journal keeps it.
type AuditLine struct {
	Property string `json:"property"`
	OK       bool   `json:"ok"`
	Said     bool   `json:"said,omitempty"` // the bundle says so and nothing contradicts, but who vouches is not known
	Detail   string `json:"detail"`
}

// AuditReport says whether the laws of the loop were kept.
type AuditReport struct {
	Lines []AuditLine
	State triage.State // as far as the journal folds
}

// OK reports whether every property holds.
func (r AuditReport) OK() bool {
	for _, l := range r.Lines {
		if !l.OK {
			return false
		}
	}
	return true
}

// Audit folds a bundle again and judges every gate again from the runbook that
// is stored in it: an act without its confirmed gate does not fold, and a gate
// whose recorded verdicts do not follow from the evidence before it is named.
// Of a journal that is longer than any honest one only the beginning is judged,
// and the report says so. The error means that the bundle could not be read.
func Audit(path string, catalog steps.Catalog) (AuditReport, error) {
	return AuditBy(path, catalog, nil)
}

// AuditBy is Audit by somebody who knows whose approvals count.
func AuditBy(path string, catalog steps.Catalog, signers *sig.Signers) (AuditReport, error) {
	return AuditFor(path, catalog, Verifier{Signers: signers})
}

// AuditFor is Audit with all that a verifier knows.
func AuditFor(path string, catalog steps.Catalog, v Verifier) (AuditReport, error) {
	a := auditor{catalog: catalog, books: map[string]*runbooks.Runbook{}, requests: map[string]approval.Request{}, signers: v.Signers,
		held: held{policy: v.Policy, approved: map[string]bool{}}}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return AuditReport{}, err
	}
	defer r.Close()
	a.reader = r
	folds := AuditLine{Property: "loop", OK: true}
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return a.report, err
		}
		if err := a.limit.Take(e.Data, a.report.State); err != nil {
			folds.OK, folds.Detail = false, fmt.Sprintf("only the %d entries before entry %d were judged, and nothing after them: %v", e.Seq, e.Seq, err)
			break
		}
		if err := a.entry(e); err != nil {
			folds.OK, folds.Detail = false, err.Error()
			break
		}
	}
	if folds.OK {
		folds.Detail = fmt.Sprintf("%d entries fold; every gate and act kept the laws", a.report.State.Seq+1)
	}
	a.report.Lines = append([]AuditLine{folds}, a.report.Lines...)
	a.acts()
	return a.report, nil
}

// The most that an audit keeps of what runbooks and faults a journal brings.
const (
	auditSources = 4 << 20 // bytes of runbooks
	auditFaults  = 100
)

type auditor struct {
	limit   triage.Limit
	sources int64
	reader  *evidence.Reader
	catalog steps.Catalog
	books   map[string]*runbooks.Runbook
	report  AuditReport
	gates   int
	wrong   []string
	sides   comparisons
	long    journal.LongValues
	seals   int
	left    []string // what is wrong with the seals
	sealed  bool     // nothing comes after the newest seal

	requests map[string]approval.Request // by gate, of its newest preview
	signers  *sig.Signers
	pairs    pairs
	held     held
}

func (a *auditor) entry(e evidence.Entry) error {
	a.sealed = e.Type == "seal"
	before := a.report.State
	st, err := journal.Fold(before, e)
	if err != nil {
		return err
	}
	a.report.State = st
	if e.Type == "seal" {
		a.sealedRight(e, before)
	}
	body, err := triage.Decode(e.Type, e.Data)
	if err != nil {
		return err
	}
	switch b := body.(type) {
	case triage.Plan:
		rb, size, err := readRunbook(a.reader, b, Config{Catalog: a.catalog})
		if err != nil {
			return err
		}
		if a.sources += size; a.sources > auditSources {
			return fmt.Errorf("entry %d: over %d MiB of runbooks; it and what comes after it was not judged", e.Seq, auditSources>>20)
		}
		if rb.Digest != b.Digest {
			return fmt.Errorf("entry %d: the runbook stored in the bundle is not the one the plan names", e.Seq)
		}
		a.books[b.Runbook] = rb
	case triage.GateShown:
		a.gates++
		a.rejudge(e, before, b)
		keepRequest(a.requests, st.Incident, e)
		a.shownToTwo(e, b)
		a.held.shown(b)
	case triage.SeverityAsk:
		keepRequest(a.requests, st.Incident, e)
		a.shownToTwo(e, b.GateShown)
		a.held.shown(b.GateShown)
	case triage.SeveritySet:
		a.held.severity(e, before, b)
	case triage.Approve:
		a.approval(e, before, b)
	case triage.ActStart:
		if before.Gates[b.Step].Shown.Second != nil {
			a.pairs.acts++
		}
		a.held.act(e, before, b)
	case triage.ProbeEnd:
		a.sides.judge(a.books[journal.BookOf(b.Step)], e.Seq, before, b)
	}
	return nil
}

// rejudge evaluates the conditions of a gate against the evidence that stood
// before it was shown.
func (a *auditor) rejudge(e evidence.Entry, before triage.State, shown triage.GateShown) {
	rb := a.books[journal.BookOf(shown.Step)]
	if rb == nil {
		a.fault(fmt.Sprintf("entry %d: %s belongs to no stored runbook", e.Seq, shown.Step))
		return
	}
	at, err := e.Time()
	if err != nil {
		a.fault(fmt.Sprintf("entry %d: %v", e.Seq, err))
		return
	}
	got := rb.Judge(journal.Bare(shown.Step), varsOf(before, rb.ID, at, true, &a.long))
	if len(got) != len(shown.Verdicts) {
		a.fault(fmt.Sprintf("entry %d: %s has %d conditions, the journal shows %d", e.Seq, shown.Step, len(got), len(shown.Verdicts)))
		return
	}
	for i, v := range got {
		if v.Result != shown.Verdicts[i].Result {
			a.fault(fmt.Sprintf("entry %d: %s: %s is %s, the journal says %s", e.Seq, shown.Step, v.Expr, v.Result, shown.Verdicts[i].Result))
		}
	}
}

// fault notes what is wrong with a gate; of many the first are enough.
func (a *auditor) fault(what string) {
	if len(a.wrong) < auditFaults {
		a.wrong = append(a.wrong, what)
	}
}

// acts adds the lines that need the whole journal.
func (a *auditor) acts() {
	judged := AuditLine{Property: "gates", OK: len(a.wrong) == 0, Detail: fmt.Sprintf("%d shown, each judged again from the stored runbook with the same result", a.gates)}
	if len(a.wrong) > 0 {
		judged.Detail = a.wrong[0]
	}
	acts := AuditLine{Property: "acts", OK: true}
	n := 0
	for _, g := range a.report.State.Gates {
		switch g.Phase {
		case triage.GateActing, triage.GateUnknown:
			// An incident that goes on may be in the middle of it, or will read the target.
			acts.OK = a.report.State.Outcome == "" && !a.sealed
			acts.Detail = fmt.Sprintf("%s: an act began and its outcome is not known", g.Step)
			if acts.OK {
				acts.Detail += " yet; a resume reads the target"
			}
		case triage.GateDone, triage.GateRefused, triage.GateFailed:
			n++
		}
	}
	if acts.Detail == "" {
		acts.Detail = fmt.Sprintf("%d ended, each with the target before and after", n)
	}
	a.report.Lines = append(a.report.Lines, judged, acts)
	if line, ok := a.sides.line(); ok {
		a.report.Lines = append(a.report.Lines, line)
	}
	if line, ok := a.pairs.line(); ok {
		a.report.Lines = append(a.report.Lines, line)
	}
	if line, ok := a.held.line(a.report.State.Drill); ok {
		a.report.Lines = append(a.report.Lines, line)
	}
	if a.seals+len(a.left) == 0 {
		return
	}
	left := AuditLine{Property: "left out", OK: len(a.left) == 0, Detail: fmt.Sprintf("%d seals, each names the steps that were left out", a.seals)}
	if !left.OK {
		left.Detail = a.left[0]
	}
	a.report.Lines = append(a.report.Lines, left)
}
