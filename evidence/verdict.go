package evidence

import "fmt"

// Verdict is what can be said of a property. Only what was recomputed, or checked with something that its author could
// not have changed, is Proven.
type Verdict string

// Of the three, only Failed makes a bundle fail.
const (
	Proven   Verdict = "ok"
	Unproven Verdict = "unproven" // the bundle says so, and nothing contradicts it
	Failed   Verdict = "failed"
)

// The properties that Verify states, in this order. Signature, timestamp and anchor have a line for each of them.
const (
	PropertyLayout     = "layout"
	PropertyFormat     = "format"
	PropertyChain      = "chain"
	PropertyComplete   = "complete"
	PropertyBlobs      = "blobs"
	PropertyQuarantine = "quarantine"
	PropertySeal       = "seal"
	PropertySignature  = "signature"
	PropertySignedBy   = "signed-by"
	PropertyTimestamp  = "timestamp"
	PropertyAnchor     = "anchor"
	PropertyRedaction  = "redaction"
	PropertyCustody    = "custody"
	PropertyAgain      = "redacted-again"
)

// Line is the verdict on one property.
type Line struct {
	Property string  `json:"property"`
	Verdict  Verdict `json:"verdict"`
	Detail   string  `json:"detail"`
}

// Report is the verdict on a bundle, each property apart. Its zero value says that nothing was verified.
type Report struct {
	Path    string `json:"path"`
	ID      string `json:"id"`
	Entries int64  `json:"entries"` // good entries from the start
	Head    string `json:"head"`    // hash of the last good one
	Root    string `json:"root"`    // Merkle root over the good entries, base64
	Lines   []Line `json:"lines"`

	last   *sealedAt // the newest seal, recomputed
	seals  []sealedAt
	sealed bool
}

// Sealed reports whether the last entry is a seal that holds. Who sealed it is another question.
func (r Report) Sealed() bool { return r.sealed }

// OK reports whether no property failed. What is unproven is not failed: a Policy can ask for more.
func (r Report) OK() bool {
	for _, l := range r.Lines {
		if l.Verdict != Proven && l.Verdict != Unproven {
			return false
		}
	}
	return len(r.Lines) > 0
}

// Of returns the worst verdict on a property, "" when nothing was said of it.
func (r Report) Of(property string) Verdict {
	var worst Verdict
	for _, l := range r.Lines {
		if l.Property == property && (worst == "" || l.Verdict == Failed || worst == Proven) {
			worst = l.Verdict
		}
	}
	return worst
}

func (v *verifier) say(property string, verdict Verdict, format string, args ...any) {
	v.report.Lines = append(v.report.Lines, Line{property, verdict, fmt.Sprintf(format, args...)})
}

// judge says ok for a nil error.
func (v *verifier) judge(property string, err error, format string, args ...any) {
	if err != nil {
		v.say(property, Failed, "%v", err)
		return
	}
	v.say(property, Proven, format, args...)
}
