package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	mostEnvelope = 4 << 20 // an SBOM may be the predicate
	mostBy       = 20      // signatures of one envelope
	mostSubjects = 1000

	envelopeType  = "application/vnd.dsse.envelope.v1+json" // cosign specs/ATTESTATION_SPEC.md
	statementType = "application/vnd.in-toto+json"
	statementForm = "https://in-toto.io/Statement/" // v0.1 and v1
)

// envelope is signed content (DSSE, envelope.md) that is a statement on images (in-toto attestation framework, spec/v1/statement.md).
type envelope struct {
	signed     []byte   // what the signatures are over
	signatures []string // in base64
	predicate  string
	digests    []string // sha256 of the subjects
	keyless    bool     // it comes with a certificate
}

var errEnvelope = errors.New("it is no signed statement of the form that cosign writes")

type dsse struct {
	Payload     string `json:"payload"`
	PayloadType string `json:"payloadType"`
	Signatures  []struct {
		Sig string `json:"sig"`
	} `json:"signatures"`
}

// parseEnvelope reads a DSSE envelope, or a sigstore bundle that holds one (sigstore protobuf-specs, sigstore_bundle.proto). A
// bundle of a message signature is over bytes that are not in it.
func parseEnvelope(raw []byte) (envelope, error) {
	var in struct {
		dsse
		MediaType string `json:"mediaType"`
		Material  *struct {
			Certificate json.RawMessage `json:"certificate"`
			Chain       json.RawMessage `json:"x509CertificateChain"`
		} `json:"verificationMaterial"`
		Envelope *dsse           `json:"dsseEnvelope"`
		Message  json.RawMessage `json:"messageSignature"`
	}
	if len(raw) > mostEnvelope || json.Unmarshal(raw, &in) != nil {
		return envelope{}, errEnvelope
	}
	of := in.dsse
	if in.Envelope != nil {
		of = *in.Envelope
	}
	if in.Message != nil {
		return envelope{}, errors.New("it is a bundle of a message signature, which is not verified")
	}
	payload, err := decode(of.Payload)
	if err != nil || of.PayloadType != statementType || len(of.Signatures) == 0 || len(of.Signatures) > mostBy {
		return envelope{}, errEnvelope
	}
	var statement struct {
		Type      string `json:"_type"`
		Predicate string `json:"predicateType"`
		Subject   []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	if json.Unmarshal(payload, &statement) != nil || !strings.HasPrefix(statement.Type, statementForm) || len(statement.Subject) > mostSubjects {
		return envelope{}, errEnvelope
	}
	e := envelope{
		// PAE of DSSE protocol.md: the type is signed with the content.
		signed:    fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(of.PayloadType), of.PayloadType, len(payload), payload),
		predicate: statement.Predicate, keyless: in.Material != nil && (in.Material.Certificate != nil || in.Material.Chain != nil),
	}
	for _, s := range of.Signatures {
		e.signatures = append(e.signatures, s.Sig)
	}
	for _, s := range statement.Subject {
		if d := "sha256:" + s.Digest["sha256"]; digestForm.MatchString(d) {
			e.digests = append(e.digests, d)
		}
	}
	return e, nil
}

// decode reads base64, which DSSE takes in its standard and its URL-safe alphabet.
func decode(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		raw, err = base64.URLEncoding.DecodeString(text)
	}
	return raw, err
}

// signedBy reports whether one of the signatures is by the key.
func (e envelope) signedBy(key verifier) bool {
	for _, s := range e.signatures {
		if raw, err := decode(s); err == nil && key.holds(base64.StdEncoding.EncodeToString(raw), e.signed) {
			return true
		}
	}
	return false
}

// about is the digest of the image where it is a subject, else the first one.
func (e envelope) about(digest string) string {
	for _, d := range e.digests {
		if d == digest {
			return d
		}
	}
	if len(e.digests) > 0 {
		return e.digests[0]
	}
	return ""
}
