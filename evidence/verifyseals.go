package evidence

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/sig"
)

// seals compares the stored checkpoints, in their order, with those that the journal gives.
func (v *verifier) seals() {
	found := v.ledger.seals
	if n := len(found); n > 0 {
		v.report.last, v.report.seals = &found[n-1], found
	}
	err := v.sealErr
	for i, s := range found {
		if err == nil {
			err = v.sealFile(sealName(i+1), s.Checkpoint)
		}
	}
	for _, name := range v.files.seals {
		if err == nil && v.sealOf(name) == nil {
			err = v.sealWithout(name)
		}
	}
	switch {
	case err != nil:
		v.sealWrong = true
		v.say(PropertySeal, Failed, "%v", err)
	case len(found) == 0:
		v.say(PropertySeal, Unproven, "none: a rewrite of the whole journal or a cut at its end would not show")
	default:
		last := found[len(found)-1]
		v.say(PropertySeal, Proven, "%d; the newest covers %d entries, and its root is the recomputed %s", len(found), last.Entries, last.Root)
	}
}

// sealOf returns the seal entry that a checkpoint file stands for, by its number.
func (v *verifier) sealOf(file string) *sealedAt {
	n, err := strconv.Atoi(strings.TrimSuffix(file, ".txt"))
	if err != nil || n < 1 || n > len(v.ledger.seals) || sealName(n) != file {
		return nil
	}
	return &v.ledger.seals[n-1]
}

func (v *verifier) sealFile(name string, want Checkpoint) error {
	if !slices.Contains(v.files.seals, name) {
		return fmt.Errorf("%s is missing, which the seal in entry %d needs: lost, or sealing was cut off", name, want.Entries-1)
	}
	got, err := v.readSeal(name)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case got.ID != want.ID:
		return fmt.Errorf("%s belongs to bundle %q", name, got.ID)
	case got.Entries != want.Entries:
		return fmt.Errorf("%s covers %d entries, its seal covers %d", name, got.Entries, want.Entries)
	case got.Root != want.Root:
		return fmt.Errorf("%s: its root is not that of the first %d entries", name, want.Entries)
	}
	return nil
}

// sealWithout explains a checkpoint that no seal entry among the good ones stands for.
func (v *verifier) sealWithout(name string) error {
	got, err := v.readSeal(name)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case got.Entries > v.report.Entries:
		return fmt.Errorf("%s covers %d entries, only %d are there and good", name, got.Entries, v.report.Entries)
	}
	return fmt.Errorf("%s belongs to no seal in the journal", name)
}

func (v *verifier) readSeal(name string) (Checkpoint, error) {
	raw, err := readSmall(v.root, "seals/"+name, maxCheckpoint)
	if err != nil {
		return Checkpoint{}, err
	}
	return parseCheckpoint(raw)
}

// signatures says of each signature whose it is, and reports whether an allowed signer vouches for all entries.
func (v *verifier) signatures() (vouched bool) {
	var newest []string // principals that signed the newest seal
	signed := false
	for _, name := range v.files.signatures {
		seal, s, err := v.signature(name)
		if err != nil {
			v.say(PropertySignature, Failed, "%s: %v", name, err)
			continue
		}
		isLast := seal.Entries == v.report.last.Entries
		signed = signed || isLast
		p := v.policy.Signers.Judge(s.Key, sealTime(seal))
		by := ssh.FingerprintSHA256(s.Key)
		switch {
		case len(p.Who) > 0:
			v.say(PropertySignature, Proven, "%s: entries 0 to %d, signed by %s (%s)", name, seal.Entries-1, strings.Join(p.Who, " "), by)
			if isLast {
				newest = append(newest, p.Who...)
			}
			vouched = vouched || isLast && seal.Entries == v.report.Entries && !v.sealWrong
		case p.Known:
			v.say(PropertySignature, Failed, "%s: signed by %s, which may not: %s", name, by, p.Refused)
		default:
			v.say(PropertySignature, Unproven, "%s: entries 0 to %d, signed by %s, unknown to you%s", name, seal.Entries-1, by, v.notUsed())
		}
	}
	if !signed {
		what := "nothing is signed, since nothing is sealed"
		if len(v.ledger.seals) > 0 {
			what = fmt.Sprintf("the newest seal (%s) is not signed", sealName(len(v.ledger.seals)))
		}
		v.say(PropertySignature, Unproven, "%s: anyone who can write the bundle could have made all of it", what)
	}
	for _, who := range v.policy.SignedBy {
		if slices.ContainsFunc(newest, func(list string) bool { return sig.MatchPatterns(list, who) }) {
			v.say(PropertySignedBy, Proven, "%s signed the newest seal", who)
		} else {
			v.say(PropertySignedBy, Failed, "no signature of the newest seal is by %s", who)
		}
	}
	return vouched
}

func (v *verifier) notUsed() string {
	if n := v.policy.Signers.Authorities(); n > 0 {
		return fmt.Sprintf(" (%d cert-authority lines are not used: handrail checks no certificates)", n)
	}
	return ""
}

// signature checks one signature file against the recomputed checkpoint of its seal.
func (v *verifier) signature(name string) (sealedAt, sig.Signature, error) {
	base, rest, _ := strings.Cut(name, ".txt")
	seal := v.sealOf(base + ".txt")
	if seal == nil {
		return sealedAt{}, sig.Signature{}, errors.New("the seal that it is of is not among the good entries")
	}
	raw, err := readSmall(v.root, "seals/"+name, sig.MaxSignature)
	if err != nil {
		return sealedAt{}, sig.Signature{}, err
	}
	s, err := sig.ParseSignature(raw)
	if err != nil {
		return sealedAt{}, s, err
	}
	if rest != ".sig" && rest != "."+keyMark(s.Key)+".sig" {
		return sealedAt{}, s, fmt.Errorf("its name is of another key than %s", ssh.FingerprintSHA256(s.Key))
	}
	return *seal, s, s.Verify(seal.Text())
}

// keyMark tells the signatures of several keys apart in file names.
func keyMark(key ssh.PublicKey) string { return sumHex(key.Marshal())[:16] }

// sealTime is when a seal was made by the word of its entry.
func sealTime(s sealedAt) time.Time {
	t, err := s.entry.Time()
	if err != nil {
		return time.Time{} // the scanner refuses such an entry
	}
	return t
}
