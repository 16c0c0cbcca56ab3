package registry

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

const (
	mostKey       = 64 << 10
	mostPayload   = 64 << 10
	mostSignature = 8 << 10 // characters of base64
	leastRSA      = 2048
)

// The names of cosign specs/SIGNATURE_SPEC.md.
const (
	simpleSigning    = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureNote    = "dev.cosignproject.cosign/signature"
	certificateNote  = "dev.sigstore.cosign/certificate"
	signatureType    = "cosign container image signature"
	predicateNote    = "predicateType"                     // of a layer of an .att manifest (cosign specs/ATTESTATION_SPEC.md)
	bundlePredicate  = "dev.sigstore.bundle.predicateType" // of a referrer (cosign specs/BUNDLE_SPEC.md)
	bundleArtifact   = "application/vnd.dev.sigstore.bundle"
	signArtifact     = "application/vnd.dev.cosign.artifact.sig.v1+json"
	bundleSignature  = "https://sigstore.dev/cosign/sign/v1"
	slsaProvenance   = "https://slsa.dev/provenance/"
	spdxPredicate    = "https://spdx.dev/Document"
	cyclonePredicate = "https://cyclonedx.org/bom"
)

// payload is what a simple signing signature is over.
type payload struct {
	reference string // critical.identity.docker-reference
	digest    string // critical.image.docker-manifest-digest
	kind      string // critical.type
}

var errPayload = errors.New("the payload is no simple signing payload")

// parsePayload reads a payload (containers/image, docs/containers-signature.5.md, JSON data format).
func parsePayload(raw []byte) (payload, error) {
	var in struct {
		Critical *struct {
			Identity struct {
				Reference string `json:"docker-reference"`
			} `json:"identity"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
	}
	if len(raw) > mostPayload || json.Unmarshal(raw, &in) != nil || in.Critical == nil {
		return payload{}, errPayload
	}
	return payload{in.Critical.Identity.Reference, in.Critical.Image.Digest, in.Critical.Type}, nil
}

// verifier is one public key.
type verifier struct {
	key         crypto.PublicKey
	fingerprint string // sha256 of its PKIX form
}

// parseKey reads a public key in PEM.
func parseKey(raw []byte) (verifier, error) {
	block, rest := pem.Decode(raw)
	if block == nil {
		return verifier{}, errors.New("it holds no PEM block")
	}
	if strings.TrimSpace(string(rest)) != "" {
		return verifier{}, errors.New("it holds more than one key: name a file with the one key that signs")
	}
	var (
		key crypto.PublicKey
		err error
	)
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	default:
		return verifier{}, fmt.Errorf("it holds a %q and no PUBLIC KEY", block.Type)
	}
	if err != nil {
		return verifier{}, errors.New("its key cannot be read")
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return verifier{}, fmt.Errorf("its key is on the curve %s: signatures are verified on P-256 alone", k.Curve.Params().Name)
		}
	case *rsa.PublicKey:
		if k.N.BitLen() < leastRSA || k.N.BitLen() > 16<<10 {
			return verifier{}, fmt.Errorf("its RSA key has %d bits: at least %d are wanted", k.N.BitLen(), leastRSA)
		}
	case ed25519.PublicKey:
	default:
		return verifier{}, errors.New("its key is neither ECDSA, RSA nor Ed25519")
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return verifier{}, err
	}
	sum := sha256.Sum256(der)
	return verifier{key, "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// holds tells whether a signature in base64 is one by the key over raw. The hash is that of the registry, sha256
// (SIGNATURE_SPEC.md, Hashing Algorithms); Ed25519 signs the payload itself.
func (v verifier) holds(signature string, raw []byte) bool {
	if len(signature) > mostSignature {
		return false
	}
	sig, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(raw)
	switch k := v.key.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(k, sum[:], sig)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig) == nil
	case ed25519.PublicKey:
		return ed25519.Verify(k, raw, sig)
	}
	return false
}

// usualPayload is the payload that cosign writes where it is given no annotations, for one repository. Where a registry keeps
// its blobs on another server, to which nothing is sent, the digest of a layer proves that its bytes are these.
func usualPayload(repository, digest string) []byte {
	raw, _ := json.Marshal(map[string]any{"critical": map[string]any{"identity": map[string]any{"docker-reference": repository},
		"image": map[string]any{"docker-manifest-digest": digest}, "type": signatureType}, "optional": nil}) // of texts alone
	return raw
}

// namesOf are the names under which cosign writes a repository: it calls docker.io by its index.
func (r reference) namesOf() []string {
	if r.domain == hubName {
		return []string{"index." + r.repository(), r.repository()}
	}
	return []string{r.repository()}
}

// sameRepository tells whether the identity of a payload names the repository of r, whatever its tag.
func (r reference) sameRepository(identity string) bool {
	i, err := parseReference(identity)
	return err == nil && i.repository() == r.repository()
}
