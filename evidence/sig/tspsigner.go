package sig

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha1" // older tokens name their certificate by it, beside a signature over SHA-2
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// readSigner finds who signed, among the certificates, and checks the signature.
func (t *TimeStamp) readSigner(s cryptobyte.String, certs []*x509.Certificate) error {
	var version int
	var sid, attrs cryptobyte.String
	var ok bool
	if !s.ReadASN1Integer(&version) || version != 1 || !s.ReadASN1Element(&sid, der.SEQUENCE) {
		return ErrStampForm // version 3 names its signer in a way that openssl does not take
	}
	if t.digest, ok = readHash(&s); !ok {
		return errors.New("signed over a hash that is not taken; SHA-256, SHA-384 and SHA-512 are")
	}
	if !s.ReadASN1Element(&attrs, explicit(0)) {
		return ErrStampForm
	}
	algorithm, ok := readAlgorithm(&s)
	if !ok || !s.ReadASN1((*cryptobyte.String)(&t.signature), der.OCTET_STRING) || !s.SkipOptionalASN1(explicit(1)) || !s.Empty() {
		return ErrStampForm
	}
	t.sid = sid
	t.attrs = append([]byte{byte(der.SET)}, attrs[1:]...) // what is signed is the set itself, RFC 5652 section 5.4
	named, err := t.readAttributes()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return bytes.Equal(sidOf(c), t.sid) && named.all(c) })
	if i < 0 {
		return errors.New("the certificate that signed is not in it, or not the one that the signature names")
	}
	if err := t.checkSigner(certs[i], algorithm); err != nil {
		return err
	}
	t.Chain = chainOf(certs[i], certs)
	return nil
}

// sidOf is how a signature names a certificate.
func sidOf(c *x509.Certificate) []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(c.RawIssuer)
		b.AddASN1BigInt(c.SerialNumber)
	})
	return b.BytesOrPanic() // of a certificate that was parsed
}

// namedCert is a hash of the certificate that signed; the signature covers it, so that no other can take its place.
type namedCert struct {
	hash crypto.Hash
	sum  []byte
}

type namedCerts []namedCert

func (n namedCerts) all(c *x509.Certificate) bool {
	for _, one := range n {
		h := one.hash.New()
		h.Write(c.Raw)
		if !bytes.Equal(h.Sum(nil), one.sum) {
			return false
		}
	}
	return len(n) > 0
}

// readAttributes holds the signed attributes against the content, and returns what they say of the signer.
func (t *TimeStamp) readAttributes() (named namedCerts, err error) {
	in := cryptobyte.String(t.attrs)
	var s cryptobyte.String
	if !in.ReadASN1(&s, der.SET) || !in.Empty() {
		return nil, ErrStampForm
	}
	found := map[string]bool{}
	for !s.Empty() {
		var attr, values cryptobyte.String
		var oid asn1.ObjectIdentifier
		if !s.ReadASN1(&attr, der.SEQUENCE) || !attr.ReadASN1ObjectIdentifier(&oid) || !attr.ReadASN1(&values, der.SET) || !attr.Empty() || found[oid.String()] {
			return nil, ErrStampForm
		}
		found[oid.String()] = true
		switch {
		case oid.Equal(oidContentType):
			var kind asn1.ObjectIdentifier
			if !values.ReadASN1ObjectIdentifier(&kind) || !values.Empty() || !kind.Equal(oidTSTInfo) {
				return nil, ErrStampForm
			}
		case oid.Equal(oidMessageDigest):
			var sum cryptobyte.String
			if !values.ReadASN1(&sum, der.OCTET_STRING) || !values.Empty() {
				return nil, ErrStampForm
			}
			h := t.digest.hash.New()
			h.Write(t.Info)
			if !bytes.Equal(h.Sum(nil), sum) {
				return nil, errors.New("the signature is of something else than it states")
			}
		case oid.Equal(oidSigningCert), oid.Equal(oidSigningCertV2):
			one, ok := readNamedCert(values, oid.Equal(oidSigningCertV2))
			if !ok {
				return nil, ErrStampForm
			}
			named = append(named, one)
		}
	}
	if !found[oidContentType.String()] || !found[oidMessageDigest.String()] || len(named) == 0 {
		return nil, ErrStampForm
	}
	return named, nil
}

// readNamedCert reads a SigningCertificate (RFC 2634) or SigningCertificateV2 (RFC 5035), whose first is the signer's.
func readNamedCert(values cryptobyte.String, v2 bool) (namedCert, bool) {
	var all, list, first cryptobyte.String
	n := namedCert{hash: crypto.SHA1}
	if !values.ReadASN1(&all, der.SEQUENCE) || !values.Empty() || !all.ReadASN1(&list, der.SEQUENCE) || !list.ReadASN1(&first, der.SEQUENCE) {
		return n, false
	}
	if v2 {
		n.hash = crypto.SHA256
		if first.PeekASN1Tag(der.SEQUENCE) {
			h, ok := readHash(&first)
			if !ok {
				return n, false
			}
			n.hash = h.hash
		}
	}
	ok := first.ReadASN1((*cryptobyte.String)(&n.sum), der.OCTET_STRING)
	return n, ok && len(n.sum) == n.hash.Size() && n.hash.Size() >= sha1.Size
}

// checkSigner says whether a certificate may sign time stamps at all (RFC 3161 section 2.3), could at that time, and
// signed this one.
func (t *TimeStamp) checkSigner(c *x509.Certificate, algorithm asn1.ObjectIdentifier) error {
	purpose := slices.IndexFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(oidExtKeyUsage) && e.Critical })
	signs := c.KeyUsage == 0 || c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) != 0
	if purpose < 0 || !slices.Equal(c.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}) || len(c.UnknownExtKeyUsage) > 0 || !signs {
		return fmt.Errorf("the certificate of %q is not for time stamps, and for nothing else", c.Subject)
	}
	if t.Time.Before(c.NotBefore) || t.Time.After(c.NotAfter) {
		return fmt.Errorf("at %s, which it states, the certificate of %q was not valid", t.Time.Format(time.RFC3339Nano), c.Subject)
	}
	kind, names := x509.PureEd25519, []asn1.ObjectIdentifier{oidEd25519}
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		if kind, names = t.digest.withRSA, []asn1.ObjectIdentifier{oidRSA, t.digest.rsa}; k.N.BitLen() < minRSA {
			return fmt.Errorf("signed by an RSA key of %d bits; at least %d are asked for", k.N.BitLen(), minRSA)
		}
	case *ecdsa.PublicKey:
		kind, names = t.digest.withECDSA, []asn1.ObjectIdentifier{t.digest.ecdsa}
	case ed25519.PublicKey:
		if t.digest.hash != crypto.SHA512 { // RFC 8419
			return ErrStampForm
		}
	default:
		return fmt.Errorf("signed by a key of a kind that is not taken (%s)", c.PublicKeyAlgorithm)
	}
	if !slices.ContainsFunc(names, algorithm.Equal) {
		return fmt.Errorf("signature algorithm %s is not taken", algorithm)
	}
	if err := c.CheckSignature(kind, t.attrs, t.signature); err != nil {
		return fmt.Errorf("its signature is wrong: %w", err)
	}
	return nil
}

// chainOf follows the issuers of a certificate as far as they are at hand.
func chainOf(c *x509.Certificate, certs []*x509.Certificate) []*x509.Certificate {
	chain := []*x509.Certificate{c}
	for {
		last := chain[len(chain)-1]
		i := slices.IndexFunc(certs, func(up *x509.Certificate) bool {
			return !slices.ContainsFunc(chain, up.Equal) && bytes.Equal(up.RawSubject, last.RawIssuer) && last.CheckSignatureFrom(up) == nil
		})
		if i < 0 || bytes.Equal(last.RawSubject, last.RawIssuer) {
			return chain
		}
		chain = append(chain, certs[i])
	}
}
