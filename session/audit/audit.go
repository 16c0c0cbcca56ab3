// Package audit says of a bundle whether the laws of the loop were kept.
//
// [Bundle] folds the journal again, so that an act without its confirmed gate ends
// the judgement there, and judges again all that follows from the entries before it:
// each verdict of each gate by the runbook that is stored in the bundle, each
// comparison, the steps that a seal says were left out. Of a gate that needed two
// persons it checks that each approval is a signature of what was shown, and whose,
// as far as the [Verifier] knows keys; and where the verifier brings a policy, each
// act and each lowering of the severity is held to that one too, by what the bundle
// tells of its place. What a redaction hid is not judged.
//
// Each property is a [Line]; one that is broken names the entry. A bundle may be a
// stranger's: of a journal that is longer than any honest one only the beginning is
// judged, and the report says so. Nothing is written, run or asked.
package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/evidence"
	"handrail/evidence/sig"
	"handrail/runbooks"
	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Line is one property of the loop, and whether the journal keeps it.
type Line struct {
	Property string `json:"property"`
	OK       bool   `json:"ok"`
	Said     bool   `json:"said,omitempty"` // the bundle says so and nothing contradicts, but who vouches is not known
	Detail   string `json:"detail"`
}

// Report says whether the laws of the loop were kept.
type Report struct {
	Lines []Line
	State triage.State // as far as the journal folds
}

// OK reports whether every property holds.
func (r Report) OK() bool {
	for _, l := range r.Lines {
		if !l.OK {
			return false
		}
	}
	return true
}

// Bundle judges one; what v knows of approvals and policies is held against it. The
// error means that the bundle could not be read.
func Bundle(path string, catalog steps.Catalog, v Verifier) (Report, error) {
	a := auditor{catalog: catalog, books: map[string]*runbooks.Runbook{}, requests: approval.Requests{}, signers: v.Signers,
		held: policyCheck{policy: v.Policy, approved: map[string]bool{}}}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return Report{}, err
	}
	defer r.Close()
	a.reader = r
	folds := Line{Property: "loop", OK: true}
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return a.report, err
		}
		if err := a.limit.Take(e.Data, a.report.State); err != nil {
			folds.OK, folds.Detail = false, fmt.Sprintf("only the %d entries before entry %d were checked, and none after them: %v", e.Seq, e.Seq, err)
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
	a.report.Lines = append([]Line{folds}, a.report.Lines...)
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
	report  Report
	gates   int
	wrong   []string
	sides   comparisons
	seals   int
	left    []string // what is wrong with the seals
	sealed  bool     // nothing comes after the newest seal

	requests approval.Requests // by gate, of its newest preview
	signers  *sig.Signers
	pairs    pairs
	held     policyCheck
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
		rb, err := journal.Runbook(a.reader, b, a.catalog)
		if err != nil {
			return err
		}
		if a.sources += int64(len(rb.Source)); a.sources > auditSources {
			return fmt.Errorf("entry %d: over %d MiB of runbooks; it and all later entries were not checked", e.Seq, auditSources>>20)
		}
		if rb.Digest != b.Digest {
			return fmt.Errorf("entry %d: the runbook stored in the bundle differs from the one that the plan names", e.Seq)
		}
		a.books[b.Runbook] = rb
	case triage.GateShown:
		a.gates++
		a.rejudge(e, before, b)
		a.requests.Note(st.Incident, e)
		a.shownToTwo(e, b)
		a.held.shown(b)
	case triage.SeverityAsk:
		a.requests.Note(st.Incident, e)
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
	case triage.FindingsSet:
		a.findings(e, before, b)
	}
	return nil
}

// findings holds what a journal says of a reading against what its runbook finds in
// the entries before: what speaks against a gate is not left out. What was redacted is
// not judged.
func (a *auditor) findings(e evidence.Entry, before triage.State, set triage.FindingsSet) {
	rb := a.books[journal.BookOf(set.Step)]
	at, err := e.Time()
	if rb == nil || err != nil {
		a.fault(fmt.Sprintf("entry %d: the findings of %s cannot be judged", e.Seq, set.Step))
		return
	}
	for _, f := range rb.Findings(journal.Bare(set.Step), journal.Vars(before, rb.ID, at, false)) {
		same := func(x triage.Finding) bool {
			return x.Unsure == f.Unsure && slices.Equal(x.Against, f.Against) && (x.Say == f.Say || strings.Contains(x.Say, "redacted:"))
		}
		if len(f.Against) > 0 && !slices.ContainsFunc(set.Findings, same) {
			a.fault(fmt.Sprintf("entry %d: %s leaves out what it found: %s", e.Seq, set.Step, f.Say))
		}
	}
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
	got := rb.Judge(journal.Bare(shown.Step), journal.Vars(before, rb.ID, at, true))
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
	judged := Line{Property: "gates", OK: len(a.wrong) == 0, Detail: fmt.Sprintf("%d shown, each evaluated again from the stored runbook, with the same result", a.gates)}
	if len(a.wrong) > 0 {
		judged.Detail = a.wrong[0]
	}
	acts := Line{Property: "acts", OK: true}
	n := 0
	for _, g := range a.report.State.Gates {
		switch g.Phase {
		case triage.GateActing, triage.GateUnknown:
			// An incident that goes on may be in the middle of it, or will read the target.
			acts.OK = a.report.State.Outcome == "" && !a.sealed
			acts.Detail = fmt.Sprintf("%s: an act began, and its outcome is unknown", g.Step)
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
	left := Line{Property: "left out", OK: len(a.left) == 0, Detail: fmt.Sprintf("%d seals, each names the steps that were left out", a.seals)}
	if !left.OK {
		left.Detail = a.left[0]
	}
	a.report.Lines = append(a.report.Lines, left)
}

// sealedRight holds the steps that a seal says were left out against the fold.
func (a *auditor) sealedRight(e evidence.Entry, before triage.State) {
	got, err := evidence.SkippedIn(e)
	if len(a.left) >= auditFaults {
		return
	}
	if err != nil {
		a.left = append(a.left, err.Error())
		return
	}
	a.seals++
	if want := journal.Skipped(before); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		a.left = append(a.left, fmt.Sprintf("entry %d: the seal says that %q were left out, the journal says %q", e.Seq, got, want))
	}
}
