package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

const (
	signatureOK      = "ok"
	signatureBad     = "bad"
	signatureAbsent  = "absent"
	signatureForeign = "identity-mismatch"

	mostSignatures = 50
	mostReferrers  = 20 // manifests of signatures that referrers name
)

func signatureFacts() []steps.Field {
	return append(standingFacts(), []steps.Field{
		{Name: "digest", Type: steps.Ident, Doc: "digest whose signatures were read"},
		{Name: "signature", Type: steps.Enum, Values: []string{signatureOK, signatureBad, signatureAbsent, signatureForeign}, Doc: "ok: signed by the key, for this digest; bad: signed by the key, for another digest or type, or its payload is not what the layer names; identity-mismatch: signed, and not by the key; absent: the registry was read and has none"},
		{Name: "signed_digest", Type: steps.Ident, Doc: "digest in the payload that the key signed"},
		{Name: "signers", Type: steps.Int, Doc: "signatures that are there; who gave one of another key is not told by it"},
		{Name: "key", Type: steps.Ident, Doc: "sha256 of the public key that was verified against"},
		{Name: "attestations", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether attestations are attached, verified or not"},
		{Name: "attested", Type: steps.Strings, Doc: "predicate types that the key attests for this digest; unknown where an attestation could not be read"},
		{Name: "provenance", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether one of them says that it is SLSA provenance"},
		{Name: "sbom", Type: steps.Enum, Values: []string{"yes", "no"}, Doc: "whether an SBOM is attached, by its tag or as an attestation"},
		{Name: "predicate_types", Type: steps.Strings, Doc: "the predicate types of the attestations that tell theirs"},
	}...)
}

// candidate is one signature and what it came to.
type candidate struct {
	by        bool // the key holds over the payload
	altered   bool // the payload is not what its layer names
	unread    string
	payload   payload
	parsed    bool
	keyless   bool
	signature string
}

// readSignature is registry/signature.
func readSignature(ctx context.Context, a inquiry) (steps.Observation, error) {
	name := a.in.Text("key")
	raw, err := steps.ReadFile(steps.Below(a.env.Dir, name), mostKey)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("key: %w", err)
	}
	key, err := parseKey(raw)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("key: %s: %w", name, err)
	}
	want := a.in.Text("digest")
	if want != "" && a.reference.digest != "" && want != a.reference.digest {
		return steps.Observation{}, errors.New("digest: the reference has another digest: name one")
	}
	if want == "" {
		want = a.pulled()
	}
	image := a.reference
	image.tag, image.digest = "", want
	if !digestForm.MatchString(want) {
		image.tag, image.digest = want, ""
	}
	obs := steps.Observation{Command: "cosign verify --insecure-ignore-tlog=true --key " + steps.Quote(name) + " " + steps.Quote(image.String())}
	a.f.Set("key", steps.IdentOf(key.fingerprint))

	// The image is read first: what is not there of its signatures is absent only where the repository lets itself be read.
	r, err := a.manifestAt(ctx, want)
	if stop := ctx.Err(); stop != nil {
		return obs, stop
	}
	a.standing(err)
	if err == nil && digestForm.MatchString(want) && r.digest != want {
		err = fmt.Errorf("the registry serves %s under the digest %s", r.digest, want)
		obs.Say(steps.Critical, "The registry serves bytes of %s under the digest %s.", r.digest, want)
	}
	if err != nil {
		why := "the image was not read: " + err.Error()
		if gone := (*missingError)(nil); errors.As(err, &gone) && !a.sent {
			why += ", and no account was sent: it is not there, or the registry hides it"
		}
		obs.Summary = fmt.Sprintf("Whether %s is signed is unknown: %s.", a, why)
		obs.Gaps = append(obs.Gaps, why+a.hint())
		obs.Facts = a.f.Rest(why)
		return obs, nil
	}
	a.f.Set("digest", steps.IdentOf(r.digest))
	at := a.readAttachments(ctx, key, r.digest, &obs)
	if stop := ctx.Err(); stop != nil {
		return obs, stop
	}
	a.tellSignature(at, r.digest, &obs)
	a.tellAttached(at, &obs)
	obs.Gaps = append(obs.Gaps, at.gaps...)
	obs.Facts = a.f.Rest("it was not read")
	return obs, nil
}

// signatures verifies each signature of one manifest.
func (a inquiry) signatures(ctx context.Context, key verifier, digest string, m manifest, at *attachments, obs *steps.Observation) {
	for _, l := range m.Layers {
		if l.MediaType != simpleSigning {
			continue
		}
		if len(at.found) == mostSignatures {
			at.moreSigned = true
			return
		}
		s := candidate{signature: l.Annotations[signatureNote], keyless: l.Annotations[certificateNote] != ""}
		raw, err := a.layer(ctx, l, digest)
		if err != nil {
			s.unread = err.Error()
			at.found = append(at.found, s)
			continue
		}
		a.keep(fmt.Sprintf("payload-%d", len(at.found)+1), steps.MediaJSON, raw, obs)
		s.altered = digestOf(raw) != l.Digest || int64(len(raw)) != l.Size
		s.by = key.holds(s.signature, raw)
		s.payload, err = parsePayload(raw)
		s.parsed = err == nil
		at.found = append(at.found, s)
	}
}

// layer is the payload of a signature.
func (a inquiry) layer(ctx context.Context, l descriptor, digest string) ([]byte, error) {
	switch {
	case !digestForm.MatchString(l.Digest):
		return nil, errors.New("the digest of a payload is not sha256")
	case l.Size > mostPayload:
		return nil, fmt.Errorf("a payload has more than the %d KiB that are read", mostPayload>>10)
	}
	got, err := a.get(ctx, a.path("blobs", l.Digest), "", mostPayload)
	if err == nil {
		return got.raw, nil
	}
	for _, name := range a.namesOf() {
		if raw := usualPayload(name, digest); digestOf(raw) == l.Digest {
			return raw, nil
		}
	}
	return nil, err
}

// tellSignature judges what was found.
func (a inquiry) tellSignature(at attachments, digest string, obs *steps.Observation) {
	var ok, bad, foreign, keyless int
	var signed string
	unread := slices.Clone(at.gaps)
	for _, s := range at.found {
		if s.keyless {
			keyless++
		}
		switch {
		case s.unread != "":
			unread = append(unread, s.unread)
		case s.altered:
			bad++
			obs.Say(steps.Critical, "The payload of a signature is not what its layer names: the registry serves other bytes.")
		case !s.by:
			foreign++
		case s.parsed && s.payload.digest == digest && s.payload.kind == signatureType:
			ok++
			signed = digest
			if !a.sameRepository(s.payload.reference) {
				obs.Say(steps.Warning, "The signature by the key names another repository: %q.", steps.OneLine(strings.ToValidUTF8(s.payload.reference, "?"), 200))
			}
		default:
			bad++
			what := "a payload that cannot be read"
			if s.parsed {
				what = fmt.Sprintf("digest %q, type %q", steps.OneLine(strings.ToValidUTF8(s.payload.digest, "?"), 100), steps.OneLine(strings.ToValidUTF8(s.payload.kind, "?"), 100))
				if signed == "" && digestForm.MatchString(s.payload.digest) {
					signed = s.payload.digest
				}
			}
			obs.Say(steps.Critical, "The key signed something else than this image: %s.", what)
		}
	}
	if at.moreSigned {
		unread = append(unread, "there are more signatures than are read")
	}
	if len(at.gaps) > 0 || at.moreSigned {
		a.f.Unknown("not all signatures were read", "signers")
	} else {
		a.f.Set("signers", steps.IntOf(int64(len(at.found))))
	}
	if keyless > 0 {
		obs.Say(steps.Info, "%d signatures carry a certificate: they are by an identity, which a key does not verify. cosign verify with --certificate-identity does.", keyless)
	}
	if signed != "" {
		a.f.Set("signed_digest", steps.IdentOf(signed))
	} else {
		a.f.Unknown("no signature by the key names a digest", "signed_digest")
	}
	state := ""
	switch {
	case ok > 0:
		state = signatureOK
		obs.Summary = fmt.Sprintf("%s is signed by the key, for %s.", a, digest)
	case bad > 0:
		state = signatureBad
		obs.Summary = fmt.Sprintf("The signature of %s is bad.", a)
	case len(unread) > 0:
		why := "no signature by the key was found, and not all was read: " + unread[0]
		a.f.Unknown(why, "signature")
		obs.Summary = fmt.Sprintf("Whether %s is signed by the key is unknown: %s.", a, unread[0])
		obs.Gaps = append(obs.Gaps, unread[len(at.gaps):]...) // the others are added by the caller
		return
	case foreign > 0:
		state = signatureForeign
		obs.Summary = fmt.Sprintf("%s has %d signatures, none of them by the key.", a, foreign)
		obs.Say(steps.Critical, "%s is signed, and not by the key that was given.", a)
	default:
		state = signatureAbsent
		obs.Summary = fmt.Sprintf("%s has no signature.", a)
		obs.Say(steps.Critical, "%s is not signed: the registry was read, and has no signature of %s.", a, digest)
	}
	a.f.Set("signature", steps.EnumOf(state))
}
