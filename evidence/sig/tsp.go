package sig

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// What a time stamp may hold. A long RSA key costs its verifier much and its maker nothing.
const (
	MaxTimeStamp  = 64 << 10
	maxStampCerts = 16
	maxRSA        = 8192
)

// ErrStampForm says that a reply is not in the one form.
var ErrStampForm = errors.New("not an RFC 3161 time stamp in its one form")

// The object identifiers of RFC 3161, 5035, 5652 and 5754.
var (
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidTSTInfo       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCert   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidExtKeyUsage   = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidRSA           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidEd25519       = asn1.ObjectIdentifier{1, 3, 101, 112}
)

// stampHash is a hash that a time stamp may use, with the names of it and of signatures over it.
type stampHash struct {
	hash       crypto.Hash
	oid        asn1.ObjectIdentifier
	rsa, ecdsa asn1.ObjectIdentifier
	withRSA    x509.SignatureAlgorithm
	withECDSA  x509.SignatureAlgorithm
}

var stampHashes = [...]stampHash{
	{crypto.SHA256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}, x509.SHA256WithRSA, x509.ECDSAWithSHA256},
	{crypto.SHA384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}, x509.SHA384WithRSA, x509.ECDSAWithSHA384},
	{crypto.SHA512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}, x509.SHA512WithRSA, x509.ECDSAWithSHA512},
}

// TimeStamp is the reply of a time stamping authority whose signature is right. Whether the authority is one to be
// believed, only a root can tell.
type TimeStamp struct {
	imprint  stampHash
	hashed   []byte
	Time     time.Time
	Accuracy time.Duration
	Nonce    *big.Int
	Chain    []*x509.Certificate // of those that are in it: the signer, then who issued the one before

	Info, sid, attrs, signature []byte // as they were signed
	digest                      stampHash
}

// ParseTimeStamp reads a stored time stamp: a reply with everything left out that no signature covers.
func ParseTimeStamp(raw []byte) (*TimeStamp, error) {
	t, err := ReadReply(raw)
	if err != nil {
		return nil, err
	}
	plain, err := t.Plain()
	if err != nil || !bytes.Equal(plain, raw) {
		return nil, ErrStampForm
	}
	return t, nil
}

// ReadReply reads what an authority replied, a TimeStampResp in DER, and checks its signature.
func ReadReply(raw []byte) (*TimeStamp, error) {
	if len(raw) > MaxTimeStamp {
		return nil, fmt.Errorf("over %d bytes", MaxTimeStamp)
	}
	in := cryptobyte.String(raw)
	var resp, status, info, content, signed cryptobyte.String
	var code int
	if !in.ReadASN1(&resp, der.SEQUENCE) || !in.Empty() || !resp.ReadASN1(&status, der.SEQUENCE) || !status.ReadASN1Integer(&code) {
		return nil, ErrStampForm
	}
	if code != 0 && code != 1 { // granted, or granted with changes, which all show below
		return nil, fmt.Errorf("the authority refused, with status %d: %s", code, statusText(status))
	}
	var kind asn1.ObjectIdentifier
	if !resp.ReadASN1(&info, der.SEQUENCE) || !resp.Empty() || !info.ReadASN1ObjectIdentifier(&kind) || !kind.Equal(oidSignedData) ||
		!info.ReadASN1(&content, explicit(0)) || !info.Empty() || !content.ReadASN1(&signed, der.SEQUENCE) || !content.Empty() {
		return nil, ErrStampForm
	}
	return readSigned(signed)
}

func explicit(n uint8) der.Tag { return der.Tag(n).ContextSpecific().Constructed() }

// statusText is what the authority says of its refusal.
func statusText(status cryptobyte.String) string {
	var list, one cryptobyte.String
	var out []string
	if status.ReadASN1(&list, der.SEQUENCE) {
		for len(out) < 10 && list.ReadASN1(&one, der.UTF8String) {
			out = append(out, string(one))
		}
	}
	if len(out) == 0 {
		return "it does not say why"
	}
	return fmt.Sprintf("%q", strings.Join(out, "; "))
}

func readSigned(s cryptobyte.String) (*TimeStamp, error) {
	var digests, encap, content, certs, signers, signer cryptobyte.String
	var version int
	var kind asn1.ObjectIdentifier
	var t TimeStamp
	if !s.ReadASN1Integer(&version) || version != 3 || !s.ReadASN1(&digests, der.SET) || !s.ReadASN1(&encap, der.SEQUENCE) ||
		!encap.ReadASN1ObjectIdentifier(&kind) || !kind.Equal(oidTSTInfo) || !encap.ReadASN1(&content, explicit(0)) || !encap.Empty() ||
		!content.ReadASN1((*cryptobyte.String)(&t.Info), der.OCTET_STRING) || !content.Empty() ||
		!s.ReadOptionalASN1(&certs, nil, explicit(0)) || !s.SkipOptionalASN1(explicit(1)) ||
		!s.ReadASN1(&signers, der.SET) || !s.Empty() || !signers.ReadASN1(&signer, der.SEQUENCE) || !signers.Empty() {
		return nil, ErrStampForm
	}
	list, err := readCerts(certs)
	if err != nil {
		return nil, err
	}
	if err := t.readInfo(); err != nil {
		return nil, err
	}
	return &t, t.readSigner(signer, list)
}

func readCerts(s cryptobyte.String) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for !s.Empty() {
		var one cryptobyte.String
		if !s.ReadASN1Element(&one, der.SEQUENCE) {
			return nil, ErrStampForm
		}
		if len(out) == maxStampCerts {
			return nil, fmt.Errorf("over %d certificates", maxStampCerts)
		}
		c, err := x509.ParseCertificate(one)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(out)+1, err)
		}
		if k, ok := c.PublicKey.(*rsa.PublicKey); ok && k.N.BitLen() > maxRSA {
			return nil, fmt.Errorf("certificate %d: an RSA key of %d bits", len(out)+1, k.N.BitLen())
		}
		out = append(out, c)
	}
	return out, nil
}

// readHash reads an AlgorithmIdentifier of a hash.
func readHash(s *cryptobyte.String) (stampHash, bool) {
	oid, ok := readAlgorithm(s)
	i := slices.IndexFunc(stampHashes[:], func(h stampHash) bool { return h.oid.Equal(oid) })
	if !ok || i < 0 {
		return stampHash{}, false
	}
	return stampHashes[i], true
}

// readAlgorithm reads an AlgorithmIdentifier without parameters, or with NULL.
func readAlgorithm(s *cryptobyte.String) (oid asn1.ObjectIdentifier, ok bool) {
	var alg, null cryptobyte.String
	if !s.ReadASN1(&alg, der.SEQUENCE) || !alg.ReadASN1ObjectIdentifier(&oid) {
		return nil, false
	}
	return oid, alg.Empty() || alg.ReadASN1(&null, der.NULL) && null.Empty() && alg.Empty()
}

// readInfo reads the TSTInfo, what the authority states.
func (t *TimeStamp) readInfo() error {
	in := cryptobyte.String(t.Info)
	var s, imprint, when, accuracy, extensions cryptobyte.String
	var version int
	var policy asn1.ObjectIdentifier
	var ordering, has bool
	var ok bool
	serial := new(big.Int)
	if !in.ReadASN1(&s, der.SEQUENCE) || !in.Empty() || !s.ReadASN1Integer(&version) || version != 1 || !s.ReadASN1ObjectIdentifier(&policy) ||
		!s.ReadASN1(&imprint, der.SEQUENCE) {
		return ErrStampForm
	}
	if t.imprint, ok = readHash(&imprint); !ok {
		return errors.New("of a text by a hash that is not taken; SHA-256, SHA-384 and SHA-512 are")
	}
	if !imprint.ReadASN1((*cryptobyte.String)(&t.hashed), der.OCTET_STRING) || !imprint.Empty() || len(t.hashed) != t.imprint.hash.Size() ||
		!s.ReadASN1Integer(serial) || !s.ReadASN1(&when, der.GeneralizedTime) || !s.ReadOptionalASN1(&accuracy, &has, der.SEQUENCE) {
		return ErrStampForm
	}
	if has && !t.readAccuracy(accuracy) {
		return ErrStampForm
	}
	if s.PeekASN1Tag(der.BOOLEAN) && (!s.ReadASN1Boolean(&ordering) || !ordering) {
		return ErrStampForm
	}
	if s.PeekASN1Tag(der.INTEGER) {
		t.Nonce = new(big.Int)
		if !s.ReadASN1Integer(t.Nonce) {
			return ErrStampForm
		}
	}
	if !s.SkipOptionalASN1(explicit(0)) || !s.ReadOptionalASN1(&extensions, nil, explicit(1)) || !s.Empty() {
		return ErrStampForm
	}
	if err := plainExtensions(extensions); err != nil {
		return err
	}
	var err error
	t.Time, err = stampTime(string(when))
	return err
}

func (t *TimeStamp) readAccuracy(s cryptobyte.String) bool {
	var seconds, millis, micros int64
	if s.PeekASN1Tag(der.INTEGER) && !s.ReadASN1Integer(&seconds) {
		return false
	}
	for i, part := range [...]*int64{&millis, &micros} {
		tag := der.Tag(uint8(i)).ContextSpecific()
		if s.PeekASN1Tag(tag) && (!s.ReadASN1Int64WithTag(part, tag) || *part < 1 || *part > 999) {
			return false
		}
	}
	t.Accuracy = time.Duration(seconds)*time.Second + time.Duration(millis)*time.Millisecond + time.Duration(micros)*time.Microsecond
	return s.Empty() && seconds >= 0 && seconds < 1<<30
}

func plainExtensions(s cryptobyte.String) error {
	for !s.Empty() {
		var one, value cryptobyte.String
		var oid asn1.ObjectIdentifier
		critical := false
		if !s.ReadASN1(&one, der.SEQUENCE) || !one.ReadASN1ObjectIdentifier(&oid) ||
			one.PeekASN1Tag(der.BOOLEAN) && !one.ReadASN1Boolean(&critical) || !one.ReadASN1(&value, der.OCTET_STRING) || !one.Empty() {
			return ErrStampForm
		}
		if critical {
			return fmt.Errorf("critical extension %s, which handrail does not know", oid)
		}
	}
	return nil
}

// stampTime reads YYYYMMDDhhmmss[.f]Z, a fraction without zeros at its end.
func stampTime(s string) (time.Time, error) {
	whole, fraction, dotted := strings.Cut(strings.TrimSuffix(s, "Z"), ".")
	at, err := time.Parse("20060102150405", whole)
	if err != nil || !strings.HasSuffix(s, "Z") || dotted && (fraction == "" || len(fraction) > 9 || strings.HasSuffix(fraction, "0") || strings.Trim(fraction, "0123456789") != "") {
		return time.Time{}, ErrStampForm
	}
	var nanos int64
	for _, d := range (fraction + "000000000")[:9] {
		nanos = nanos*10 + int64(d-'0')
	}
	return at.Add(time.Duration(nanos)), nil
}

// Fits reports whether a time stamp is of a text.
func (t *TimeStamp) Fits(text []byte) bool {
	h := t.imprint.hash.New()
	h.Write(text)
	return bytes.Equal(h.Sum(nil), t.hashed)
}

// Latest is the latest moment that a time stamp can mean.
func (t *TimeStamp) Latest() string {
	return t.Time.Add(t.Accuracy).UTC().Format(time.RFC3339Nano)
}
