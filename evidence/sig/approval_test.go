package sig

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/sig/sigtest"
)

func TestApproval(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)
	text := []byte("handrail approval v1\nincident i\n")
	for _, who := range []string{"alice", "bob", "carol", "erin"} { // ed25519, ECDSA, RSA, a hardware key
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			sig, err := SignApproval(sigtest.Key(t, who), text)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Armour(Dearmour(sig))
			if err != nil || string(back) != string(sig) {
				t.Fatalf("Armour = %q, %v, want what Dearmour was given", back, err)
			}
			mark := ssh.FingerprintSHA256(sigtest.Key(t, who).PublicKey())
			if a, err := SignedBy(sig, text); err != nil || a.Key != mark {
				t.Errorf("SignedBy = %+v, %v, want %s", a, err, mark)
			}
			if _, err := SignedBy(sig, append(text, '\n')); !errors.Is(err, ErrNotOfThis) {
				t.Errorf("SignedBy of another text = %v", err)
			}
			for _, tc := range []struct {
				name, signers string
				want          error
			}{
				{"allowed", "x@y " + keyLine(t, who), nil},
				{"for approvals", `x@y namespaces="` + ApprovalNamespace + `" ` + keyLine(t, who), nil},
				{"for seals only", `x@y namespaces="` + SealNamespace + `" ` + keyLine(t, who), ErrMayNot},
				{"no longer", `x@y valid-before="20261121Z" ` + keyLine(t, who), ErrMayNot},
				{"another signer", "x@y " + keyLine(t, "dave"), ErrUnknownSigner},
				{"no signer", "", ErrUnknownSigner},
			} {
				s, err := ParseSigners([]byte(tc.signers))
				if err != nil {
					t.Fatal(err)
				}
				a, err := s.Approver(sig, text, at)
				if !errors.Is(err, tc.want) || a.Key != mark || (tc.want == nil) != slices.Equal(a.Who, []string{"x@y"}) {
					t.Errorf("%s: Approver = %+v, %v, want %v", tc.name, a, err, tc.want)
				}
			}
		})
	}
}

// TestSealIsNoApproval: a signature that was made for one does not pass as the other.
func TestSealIsNoApproval(t *testing.T) {
	t.Parallel()
	text := []byte("handrail/bundle/v1/i\n1\nroot\n")
	seal, err := SignSeal(sigtest.Key(t, "alice"), text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := SignedBy(seal, text); !errors.Is(err, ErrNotOfThis) {
		t.Errorf("a seal passes as an approval: %v", err)
	}
	approval, err := SignApproval(sigtest.Key(t, "alice"), text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSignature(approval)
	if err != nil || s.Verify(text) == nil {
		t.Errorf("an approval passes as a seal (%v)", err)
	}
	for i := range approval {
		bad := slices.Clone(approval)
		bad[i] ^= 1
		if _, err := SignedBy(bad, text); err == nil {
			t.Fatalf("byte %d may change", i)
		}
	}
	if _, err := Armour(strings.Repeat("A", MaxSignature*2)); err == nil {
		t.Error("a signature of any length is taken")
	}
}
