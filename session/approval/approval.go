package approval

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/evidence/sig"
)

// ErrApproval: a text is not an approval as `handrail approve` writes one.
var ErrApproval = errors.New("not an approval")

// Approval is the answer to a request.
type Approval struct {
	Digest string // the first characters of the digest, to tell what was approved
	Signed time.Time
	Sig    []byte // armoured
}

// DigestMark is how much of a digest an approval carries.
const DigestMark = 12

// Line is the approval to be sent back, on one line.
func (a Approval) Line() string {
	return strings.Join([]string{approvalWord, a.Digest[:min(DigestMark, len(a.Digest))], a.Signed.UTC().Format(time.RFC3339Nano), sig.Dearmour(a.Sig)}, " ")
}

// IsApproval reports whether a text looks like an approval: a face that is given
// one hands it over as such.
func IsApproval(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), approvalWord+" ")
}

// ParseApproval reads the one approval in a text, also where a chat broke its
// line. The error is ErrApproval.
func ParseApproval(text string) (Approval, error) {
	bad := func(why string) (Approval, error) { return Approval{}, fmt.Errorf("%w: %s", ErrApproval, why) }
	words := strings.Fields(text)
	switch {
	case len(text) > maxApproval:
		return bad("it is too long")
	case len(words) == 0 || words[0] != approvalWord:
		return bad("it does not begin with " + approvalWord)
	case len(words) < 4:
		return bad("it is cut off")
	}
	a := Approval{Digest: words[1]}
	if _, err := hex.DecodeString(a.Digest); err != nil || len(a.Digest) != DigestMark {
		return bad("its digest is damaged")
	}
	var err error
	if a.Signed, err = time.Parse(time.RFC3339Nano, words[2]); err != nil {
		return bad("its time is damaged")
	}
	if a.Sig, err = sig.Armour(strings.Join(words[3:], "")); err != nil {
		return bad("its signature is damaged")
	}
	return a, nil
}
