package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
)

// attachments are what stands beside an image.
type attachments struct {
	found      []candidate
	bare       int // attestations without a predicate type
	envelopes  int
	foreign    int // of them not by the key
	predicates map[string]bool
	attested   map[string]bool // predicate types by the key, for this digest
	elsewhere  []string        // digests that the key attests instead
	unread     []string        // attestations that could not be read
	sbom       bool
	gaps       []string // places that could not be read
	moreSigned bool     // more signatures than are read
}

// readAttachments reads the tags of cosign and the referrers of a digest.
func (a inquiry) readAttachments(ctx context.Context, key verifier, digest string, obs *steps.Observation) attachments {
	at := attachments{predicates: map[string]bool{}, attested: map[string]bool{}}
	tag := strings.Replace(digest, ":", "-", 1) // SIGNATURE_SPEC.md, Tag-based Discovery
	read := func(ref, role string, take func(manifest)) {
		r, err := a.manifestAt(ctx, ref)
		if r.raw != nil && role != "" {
			a.keep(role, steps.MediaJSON, r.raw, obs)
		}
		gone := (*missingError)(nil)
		switch {
		case err == nil && digestForm.MatchString(ref) && r.digest != ref:
			at.gaps = append(at.gaps, "the registry serves other bytes under the digest "+ref)
		case err == nil:
			take(r.manifest)
		case !errors.As(err, &gone):
			at.gaps = append(at.gaps, err.Error())
		}
	}
	signatures := func(m manifest) { a.signatures(ctx, key, digest, m, &at, obs) }
	read(tag+".sig", "signatures", signatures)
	read(tag+".att", "attestations", func(m manifest) {
		for _, l := range m.Layers {
			a.attestation(ctx, key, digest, l, l.Annotations[predicateNote], &at, obs)
		}
	})
	read(tag+".sbom", "", func(manifest) { at.sbom = true })
	list, err := a.referrers(ctx, digest, tag)
	if err != nil {
		at.gaps = append(at.gaps, "the referrers: "+err.Error())
	}
	asked := 0
	for _, d := range list {
		switch predicate := d.Annotations[bundlePredicate]; {
		case d.ArtifactType == signArtifact:
			if asked++; asked > mostReferrers || !digestForm.MatchString(d.Digest) {
				at.moreSigned = true
				continue
			}
			read(d.Digest, "", signatures)
		case strings.HasPrefix(d.ArtifactType, bundleArtifact):
			if asked++; asked > mostReferrers || !digestForm.MatchString(d.Digest) {
				at.moreSigned = true
				at.unread = append(at.unread, "there are more bundles than are read")
				continue
			}
			read(d.Digest, "", func(m manifest) { a.bundle(ctx, key, digest, m, predicate, &at, obs) })
		case strings.Contains(d.ArtifactType, "spdx") || strings.Contains(d.ArtifactType, "cyclonedx"):
			at.sbom = true
		case d.ArtifactType == "":
			at.gaps = append(at.gaps, "a referrer does not say what it is: "+d.Digest)
		}
	}
	return at
}

// referrers lists what refers to a digest (OCI distribution 1.1, Listing Referrers); where the registry has no such list, the
// tag that stands for it (Referrers Tag Schema).
func (a inquiry) referrers(ctx context.Context, digest, tag string) ([]descriptor, error) {
	got, err := a.get(ctx, a.path("referrers", digest), ociIndex, mostManifest)
	var (
		gone     *missingError
		unspoken *unspokenError
	)
	if errors.As(err, &gone) || errors.As(err, &unspoken) { // a registry without the list answers as each web server does
		r, err := a.manifestAt(ctx, tag)
		if errors.As(err, &gone) {
			return nil, nil
		}
		return r.Manifests, err
	}
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(got.raw, got.header.Get("Content-Type"))
	switch {
	case err != nil:
		return nil, err
	case !m.index():
		return nil, errManifest
	case got.header.Get("Link") != "":
		return m.Manifests, errors.New("the list goes on over more pages than the one that is read")
	}
	return m.Manifests, nil
}

// bundle reads a sigstore bundle (cosign specs/BUNDLE_SPEC.md): a signature where its predicate says so, else an attestation.
func (a inquiry) bundle(ctx context.Context, key verifier, digest string, m manifest, predicate string, at *attachments, obs *steps.Observation) {
	if len(m.Layers) != 1 || !strings.HasPrefix(m.Layers[0].MediaType, bundleArtifact) {
		at.gaps = append(at.gaps, "a bundle has not the one layer of its form")
		return
	}
	e, err := a.envelopeOf(ctx, m.Layers[0], obs)
	switch {
	case err == nil && e.predicate != bundleSignature: // what was signed counts, not the note beside it
		at.attestation(key, digest, e)
	case err != nil && predicate != "" && predicate != bundleSignature:
		at.unread = append(at.unread, "an attestation: "+err.Error())
		at.envelope(predicate)
	case len(at.found) == mostSignatures:
		at.moreSigned = true
	case err != nil:
		at.found = append(at.found, candidate{unread: "a sigstore bundle: " + err.Error()})
	default:
		at.found = append(at.found, candidate{by: e.signedBy(key), keyless: e.keyless, parsed: true,
			payload: payload{reference: a.repository(), digest: e.about(digest), kind: signatureType}})
	}
}

// attestation reads one layer, whose predicate type a note tells.
func (a inquiry) attestation(ctx context.Context, key verifier, digest string, l descriptor, note string, at *attachments, obs *steps.Observation) {
	e, err := a.envelopeOf(ctx, l, obs)
	if err != nil {
		at.unread = append(at.unread, "an attestation: "+err.Error())
		at.envelope(note)
		return
	}
	at.attestation(key, digest, e)
}

// attestation judges one that was read.
func (at *attachments) attestation(key verifier, digest string, e envelope) {
	at.envelope(e.predicate)
	switch {
	case !e.signedBy(key):
		at.foreign++
	case e.about(digest) == digest:
		at.attested[steps.OneLine(strings.ToValidUTF8(e.predicate, "?"), 200)] = true
	default:
		at.elsewhere = append(at.elsewhere, e.about(digest))
	}
}

// envelopeOf reads the envelope or the bundle that a layer is.
func (a inquiry) envelopeOf(ctx context.Context, l descriptor, obs *steps.Observation) (envelope, error) {
	switch {
	case !digestForm.MatchString(l.Digest):
		return envelope{}, errors.New("its digest is not sha256")
	case l.MediaType != envelopeType && !strings.HasPrefix(l.MediaType, bundleArtifact):
		return envelope{}, fmt.Errorf("it is of type %s", steps.OneLine(l.MediaType, 100))
	case l.Size > mostEnvelope:
		return envelope{}, fmt.Errorf("it has more than the %d MiB that are read", mostEnvelope>>20)
	}
	got, err := a.get(ctx, a.path("blobs", l.Digest), "", mostEnvelope)
	if err != nil {
		return envelope{}, err
	}
	if digestOf(got.raw) != l.Digest {
		return envelope{}, errors.New("the registry serves other bytes under its digest")
	}
	a.keep("statement-"+l.Digest[len("sha256:"):][:12], steps.MediaJSON, got.raw, obs)
	return parseEnvelope(got.raw)
}

func (at *attachments) envelope(predicate string) {
	at.envelopes++
	if predicate == "" {
		at.bare++
		return
	}
	at.predicates[steps.OneLine(strings.ToValidUTF8(predicate, "?"), 200)] = true
}

// tellAttached says what is attached, and that something is not there only where each place was read.
func (a inquiry) tellAttached(at attachments, obs *steps.Observation) {
	predicates := slices.Sorted(maps.Keys(at.predicates))
	a.f.Set("predicate_types", steps.StringsOf(predicates))
	has := func(prefix string) bool {
		return slices.ContainsFunc(predicates, func(p string) bool { return strings.HasPrefix(p, prefix) })
	}
	open := ""
	if len(at.gaps) > 0 {
		open = at.gaps[0]
	}
	switch {
	case open != "":
		a.f.Unknown(open, "attested")
	case len(at.unread) > 0:
		a.f.Unknown(at.unread[0], "attested")
	default:
		a.f.Set("attested", steps.StringsOf(slices.Sorted(maps.Keys(at.attested))))
	}
	for _, d := range at.elsewhere {
		obs.Say(steps.Critical, "The key attests something else than this image: digest %q.", steps.OneLine(d, 100))
	}
	if at.foreign > 0 {
		obs.Say(steps.Info, "%d attestations are not by the key.", at.foreign)
	}
	obs.Gaps = append(obs.Gaps, at.unread...)
	tell := func(name string, is bool, open string) {
		if !is && open != "" {
			a.f.Unknown(open, name)
			return
		}
		a.f.Set(name, yesNo(is))
	}
	tell("attestations", at.envelopes > 0, open)
	if open == "" && at.bare > 0 {
		open = "an attestation does not tell its predicate type"
	}
	tell("provenance", has(slsaProvenance), open)
	tell("sbom", at.sbom || has(spdxPredicate) || has(cyclonePredicate), open)
}
