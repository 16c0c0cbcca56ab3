package sig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// ApprovalNamespace is what the signature of a second person under a gate is for. A seal of the same key does not pass
// as one.
const ApprovalNamespace = "approve-v1@handrail"

// What is wrong with an approval.
var (
	ErrNotOfThis     = errors.New("not a signature of this")
	ErrUnknownSigner = errors.New("an unknown key")
	ErrMayNot        = errors.New("a key that may not")
)

// Approver is who signed an approval.
type Approver struct {
	Key string   // fingerprint
	Who []string // principals of the allowed signers; empty where the key is unknown
}

// SignApproval makes an armoured signature of text. Signing by a hardware key waits for its touch.
func SignApproval(signer ssh.Signer, text []byte) ([]byte, error) {
	return signFor(signer, ApprovalNamespace, "approval", text)
}

// SignedBy says which key signed text, without asking whose it is. An error is ErrNotOfThis.
func SignedBy(armoured, text []byte) (Approver, error) {
	s, err := approvalSig(armoured, text)
	if err != nil {
		return Approver{}, err
	}
	return Approver{Key: ssh.FingerprintSHA256(s.Key)}, nil
}

func approvalSig(armoured, text []byte) (Signature, error) {
	s, err := ParseSignature(armoured)
	if err == nil {
		err = s.verifyFor(ApprovalNamespace, "approval", text)
	}
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrNotOfThis, err)
	}
	return s, nil
}

// Approver says who signed text at a time, and that they may. An error is ErrNotOfThis, ErrUnknownSigner or ErrMayNot;
// with the latter two the key is told all the same.
func (s *Signers) Approver(armoured, text []byte, at time.Time) (Approver, error) {
	sig, err := approvalSig(armoured, text)
	if err != nil {
		return Approver{}, err
	}
	p := s.judgeFor(ApprovalNamespace, sig.Key, at)
	a := Approver{Key: ssh.FingerprintSHA256(sig.Key), Who: p.Who}
	switch {
	case len(p.Who) > 0:
		return a, nil
	case p.Known:
		return a, fmt.Errorf("%w: %s: %s", ErrMayNot, a.Key, p.Refused)
	}
	return a, fmt.Errorf("%w: %s", ErrUnknownSigner, a.Key)
}

// Approvers lists who may approve, as the file names them, each once and at most n.
func (s *Signers) Approvers(n int) []string {
	var out []string
	if s == nil {
		return out
	}
	seen := map[string]bool{}
	for _, row := range s.rows {
		ours := row.namespaces == "" || MatchPatterns(row.namespaces, ApprovalNamespace)
		if row.authority || !ours || seen[row.principals] || len(out) == n {
			continue
		}
		seen[row.principals] = true
		out = append(out, row.principals)
	}
	return out
}

// With is s and the signers of others; either may be nil.
func (s *Signers) With(others *Signers) *Signers {
	switch {
	case s == nil:
		return others
	case others == nil:
		return s
	}
	return &Signers{rows: slices.Concat(s.rows, others.rows)}
}

// Dearmour is what stands between the first and the last line of an armoured signature, on one line.
func Dearmour(armoured []byte) string {
	text := strings.TrimSuffix(strings.TrimPrefix(string(armoured), sigBegin), sigEnd)
	return strings.ReplaceAll(text, "\n", "")
}

// Armour is the signature that Dearmour was given. The error is ErrNotOfThis.
func Armour(line string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(line)
	if err != nil || len(raw) > MaxSignature {
		return nil, fmt.Errorf("%w: %w", ErrNotOfThis, errSigForm)
	}
	return armourSig(raw), nil
}
