package sigtest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha1" // older tokens name their certificate by it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ssh"
)

// The object identifiers of RFC 3161, 5035 and 5652.
var (
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidTSTInfo       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCert   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidExtKeyUsage   = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidRSA           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
)

// oidsOf are those of a hash and of signatures over it (RFC 5754).
var oidsOf = map[crypto.Hash]struct{ hash, rsa, ecdsa asn1.ObjectIdentifier }{
	crypto.SHA256: {asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}},
	crypto.SHA384: {asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}},
	crypto.SHA512: {asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}},
}

// StampAt is when the time stamps of the tests say that they were made; their certificates are valid around it.
var StampAt = time.Date(2026, 11, 21, 2, 20, 0, 0, time.UTC)

// Authority is a time stamping authority that can be made again: a root, one between, and a signer.
type Authority struct {
	Root, Middle, Signer *x509.Certificate
	Key                  crypto.Signer // of the signer
}

// stampKey is a key that can be made again from its name; rsa is the one that is stored.
func stampKey(t TB, name string) crypto.Signer {
	t.Helper()
	if name == "rsa" {
		k, err := ssh.ParseRawPrivateKey(carolKey)
		if err != nil {
			t.Fatal(err)
		}
		return k.(*rsa.PrivateKey)
	}
	seed := sha256.Sum256([]byte("handrail test authority " + name))
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// NewAuthority makes one whose signer has the named key; change makes its certificate another.
func NewAuthority(t TB, key string, change func(*x509.Certificate)) Authority {
	t.Helper()
	cert := func(serial int64, name string, ca bool, parent *x509.Certificate, pub any, by crypto.Signer, change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name, Organization: []string{"Example Time"}},
			NotBefore: StampAt.AddDate(-1, 0, 0), NotAfter: StampAt.AddDate(20, 0, 0), BasicConstraintsValid: true, IsCA: ca,
			SubjectKeyId: []byte(name), KeyUsage: x509.KeyUsageDigitalSignature,
		}
		if ca {
			c.KeyUsage = x509.KeyUsageCertSign
		} else {
			c.ExtraExtensions = []pkix.Extension{{Id: oidExtKeyUsage, Critical: true, Value: []byte{0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8}}}
		}
		if change != nil {
			change(c)
		}
		if parent == nil {
			parent = c
		}
		raw, err := x509.CreateCertificate(nil, c, parent, pub, by)
		if err != nil {
			t.Fatal(err)
		}
		out, err := x509.ParseCertificate(raw)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	rootKey, middleKey := stampKey(t, "root"), stampKey(t, "middle")
	var a Authority
	a.Key = stampKey(t, key)
	a.Root = cert(1, "Root", true, nil, rootKey.Public(), rootKey, nil)
	a.Middle = cert(2, "Middle", true, a.Root, middleKey.Public(), rootKey, nil)
	a.Signer = cert(3, "Signer "+key, false, a.Middle, a.Key.Public(), middleKey, change)
	return a
}

// OtherRoot is a root that vouches for no signer of NewAuthority.
func OtherRoot(t TB) *x509.Certificate {
	k := stampKey(t, "other")
	c := &x509.Certificate{SerialNumber: big.NewInt(9), Subject: pkix.Name{CommonName: "Root"}, NotBefore: StampAt.AddDate(-1, 0, 0), NotAfter: StampAt.AddDate(20, 0, 0), BasicConstraintsValid: true, IsCA: true}
	raw, err := x509.CreateCertificate(nil, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	out, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// PEM is a certificate as files have it.
func PEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// Reply is what an authority replies, and every way in which it can be wrong.
type Reply struct {
	Text     []byte
	At       string      // GeneralizedTime, "" for StampAt
	Hash     crypto.Hash // 0 for SHA-256
	Nonce    *big.Int
	Accuracy []byte // DER
	Status   int64
	Words    string // of the status
	Certs    []*x509.Certificate
	ESS      string // v2, v1, both, none or wrong
	Content  asn1.ObjectIdentifier
	Digest   []byte // that the attributes state instead of the right one
	Imprint  []byte // instead of the right one
	CRLs     bool   // bytes that no signature covers
	Unsigned bool
	RSAName  bool // sha256WithRSAEncryption instead of rsaEncryption
	Nulls    bool // algorithms with parameters NULL
	Twice    bool // two signers
	Critical bool
	Ordering []byte
}

// Reply is the TimeStampResp in DER.
func (a Authority) Reply(t TB, r Reply) []byte {
	t.Helper()
	if r.Hash == 0 {
		r.Hash = crypto.SHA256
	}
	if r.At == "" {
		r.At = StampAt.Format("20060102150405Z")
	}
	if r.Content == nil {
		r.Content = oidTSTInfo
	}
	if r.Certs == nil {
		r.Certs = []*x509.Certificate{a.Signer, a.Middle}
		slices.SortFunc(r.Certs, func(x, y *x509.Certificate) int { return bytes.Compare(x.Raw, y.Raw) })
	}
	if r.Imprint == nil {
		r.Imprint = sumOf(r.Hash, r.Text)
	}
	info := r.info()
	if r.Digest == nil {
		r.Digest = sumOf(r.Hash, info)
	}
	attrs := a.attributes(t, r)
	opts := crypto.SignerOpts(r.Hash)
	sig, err := a.Key.Sign(nil, sumOf(r.Hash, append([]byte{byte(der.SET)}, attrs[1:]...)), opts)
	if err != nil {
		t.Fatal(err)
	}
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(r.Status)
			if r.Words != "" {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1(der.UTF8String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(r.Words)) })
				})
			}
		})
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oidSignedData)
			b.AddASN1(explicit(0), func(b *cryptobyte.Builder) {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) { a.signed(b, r, info, attrs, sig) })
			})
		})
	})
	return b.BytesOrPanic()
}

func sumOf(h crypto.Hash, b []byte) []byte {
	w := h.New()
	w.Write(b)
	return w.Sum(nil)
}

func (r Reply) info() []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 3, 4})
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			addAlgorithm(b, oidsOf[r.Hash].hash, true)
			b.AddASN1OctetString(r.Imprint)
		})
		b.AddASN1Int64(77)
		b.AddASN1(der.GeneralizedTime, func(b *cryptobyte.Builder) { b.AddBytes([]byte(r.At)) })
		b.AddBytes(r.Accuracy)
		b.AddBytes(r.Ordering)
		if r.Nonce != nil {
			b.AddASN1BigInt(r.Nonce)
		}
		if r.Critical {
			b.AddASN1(explicit(1), func(b *cryptobyte.Builder) {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 3})
					b.AddASN1Boolean(true)
					b.AddASN1OctetString(nil)
				})
			})
		}
	})
	return b.BytesOrPanic()
}

func (a Authority) attributes(t TB, r Reply) []byte {
	t.Helper()
	attr := func(oid asn1.ObjectIdentifier, value func(b *cryptobyte.Builder)) []byte {
		var b cryptobyte.Builder
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oid)
			b.AddASN1(der.SET, value)
		})
		return b.BytesOrPanic()
	}
	cert := func(oid asn1.ObjectIdentifier, sum []byte) []byte {
		return attr(oid, func(b *cryptobyte.Builder) {
			b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
						if len(sum) == sha512.Size {
							addAlgorithm(b, oidsOf[crypto.SHA512].hash, false)
						}
						b.AddASN1OctetString(sum)
					})
				})
			})
		})
	}
	one, two := sha1.Sum(a.Signer.Raw), sha256.Sum256(a.Signer.Raw)
	list := [][]byte{
		attr(oidContentType, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(r.Content) }),
		attr(oidMessageDigest, func(b *cryptobyte.Builder) { b.AddASN1OctetString(r.Digest) }),
	}
	switch r.ESS {
	case "", "v2":
		list = append(list, cert(oidSigningCertV2, two[:]))
	case "v1":
		list = append(list, cert(oidSigningCert, one[:]))
	case "both":
		list = append(list, cert(oidSigningCert, one[:]), cert(oidSigningCertV2, two[:]))
	case "sha512":
		long := sha512.Sum512(a.Signer.Raw)
		list = append(list, cert(oidSigningCertV2, long[:]))
	case "wrong":
		two[0] ^= 1
		list = append(list, cert(oidSigningCertV2, two[:]))
	case "twice":
		list = append(list, cert(oidSigningCertV2, two[:]), cert(oidSigningCertV2, two[:]))
	}
	var b cryptobyte.Builder
	b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddBytes(bytes.Join(list, nil)) })
	return b.BytesOrPanic()
}

func (a Authority) signed(b *cryptobyte.Builder, r Reply, info, attrs, sig []byte) {
	b.AddASN1Int64(3)
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) { addAlgorithm(b, oidsOf[r.Hash].hash, r.Nulls) })
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidTSTInfo)
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddASN1OctetString(info) })
	})
	if len(r.Certs) > 0 {
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) {
			for _, c := range r.Certs {
				b.AddBytes(c.Raw)
			}
		})
	}
	if r.CRLs {
		b.AddASN1(explicit(1), func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
	}
	signer := func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddBytes(issuerAndSerial(a.Signer))
		addAlgorithm(b, oidsOf[r.Hash].hash, r.Nulls)
		b.AddBytes(attrs)
		switch _, isRSA := a.Key.(*rsa.PrivateKey); {
		case isRSA && r.RSAName:
			addAlgorithm(b, oidsOf[r.Hash].rsa, true)
		case isRSA:
			addAlgorithm(b, oidRSA, true)
		default:
			addAlgorithm(b, oidsOf[r.Hash].ecdsa, false)
		}
		b.AddASN1OctetString(sig)
		if r.Unsigned {
			b.AddASN1(explicit(1), func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
		}
	}
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, signer)
		if r.Twice {
			b.AddASN1(der.SEQUENCE, signer)
		}
	})
}

func explicit(n uint8) der.Tag { return der.Tag(n).ContextSpecific().Constructed() }

func addAlgorithm(b *cryptobyte.Builder, oid asn1.ObjectIdentifier, null bool) {
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
}

func issuerAndSerial(c *x509.Certificate) []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(c.RawIssuer)
		b.AddASN1BigInt(c.SerialNumber)
	})
	return b.BytesOrPanic() // of a certificate that was parsed
}
