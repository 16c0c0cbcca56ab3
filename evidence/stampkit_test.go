package evidence

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // older tokens name their certificate by it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/ssh"
)

// stampAt is when the time stamps of the tests say that they were made; their certificates are valid around it.
var stampAt = time.Date(2026, 11, 21, 2, 20, 0, 0, time.UTC)

// authority is a time stamping authority that anybody can make again: a root, one between, and a signer.
type authority struct {
	root, middle, signer *x509.Certificate
	key                  crypto.Signer // of the signer
}

// stampKey is a key that anybody can make again from its name; rsa is the one that is stored.
func stampKey(t testing.TB, name string) crypto.Signer {
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

// newAuthority makes one whose signer has the named key; change makes its certificate another.
func newAuthority(t testing.TB, key string, change func(*x509.Certificate)) authority {
	t.Helper()
	cert := func(serial int64, name string, ca bool, parent *x509.Certificate, pub any, by crypto.Signer, change func(*x509.Certificate)) *x509.Certificate {
		c := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name, Organization: []string{"Example Time"}},
			NotBefore: stampAt.AddDate(-1, 0, 0), NotAfter: stampAt.AddDate(20, 0, 0), BasicConstraintsValid: true, IsCA: ca,
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
	var a authority
	a.key = stampKey(t, key)
	a.root = cert(1, "Root", true, nil, rootKey.Public(), rootKey, nil)
	a.middle = cert(2, "Middle", true, a.root, middleKey.Public(), rootKey, nil)
	a.signer = cert(3, "Signer "+key, false, a.middle, a.key.Public(), middleKey, change)
	return a
}

// otherRoot is a root that vouches for nobody of newAuthority.
func otherRoot(t testing.TB) *x509.Certificate {
	k := stampKey(t, "other")
	c := &x509.Certificate{SerialNumber: big.NewInt(9), Subject: pkix.Name{CommonName: "Root"}, NotBefore: stampAt.AddDate(-1, 0, 0), NotAfter: stampAt.AddDate(20, 0, 0), BasicConstraintsValid: true, IsCA: true}
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

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// reply is what an authority replies, and every way in which it can be wrong.
type reply struct {
	text     []byte
	at       string // GeneralizedTime, "" for stampAt
	hash     *stampHash
	nonce    *big.Int
	accuracy []byte // DER
	status   int64
	words    string // of the status
	certs    []*x509.Certificate
	ess      string // v2, v1, both, none or wrong
	content  asn1.ObjectIdentifier
	digest   []byte // that the attributes state instead of the right one
	imprint  []byte // instead of the right one
	crls     bool   // bytes that no signature covers
	unsigned bool
	rsaName  bool // sha256WithRSAEncryption instead of rsaEncryption
	nulls    bool // algorithms with parameters NULL
	twice    bool // two signers
	critical bool
	ordering []byte
}

func (a authority) reply(t testing.TB, r reply) []byte {
	t.Helper()
	if r.hash == nil {
		r.hash = &stampHashes[0]
	}
	if r.at == "" {
		r.at = stampAt.Format("20060102150405Z")
	}
	if r.content == nil {
		r.content = oidTSTInfo
	}
	if r.certs == nil {
		r.certs = []*x509.Certificate{a.signer, a.middle}
		slices.SortFunc(r.certs, func(x, y *x509.Certificate) int { return bytes.Compare(x.Raw, y.Raw) })
	}
	if r.imprint == nil {
		r.imprint = sumOf(r.hash.hash, r.text)
	}
	info := r.info()
	if r.digest == nil {
		r.digest = sumOf(r.hash.hash, info)
	}
	attrs := a.attributes(t, r)
	opts := crypto.SignerOpts(r.hash.hash)
	sig, err := a.key.Sign(nil, sumOf(r.hash.hash, append([]byte{byte(der.SET)}, attrs[1:]...)), opts)
	if err != nil {
		t.Fatal(err)
	}
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(r.status)
			if r.words != "" {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1(der.UTF8String, func(b *cryptobyte.Builder) { b.AddBytes([]byte(r.words)) })
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

func (r reply) info() []byte {
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 3, 4})
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			addAlgorithm(b, r.hash.oid, true)
			b.AddASN1OctetString(r.imprint)
		})
		b.AddASN1Int64(77)
		b.AddASN1(der.GeneralizedTime, func(b *cryptobyte.Builder) { b.AddBytes([]byte(r.at)) })
		b.AddBytes(r.accuracy)
		b.AddBytes(r.ordering)
		if r.nonce != nil {
			b.AddASN1BigInt(r.nonce)
		}
		if r.critical {
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

func (a authority) attributes(t testing.TB, r reply) []byte {
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
							addAlgorithm(b, stampHashes[2].oid, false)
						}
						b.AddASN1OctetString(sum)
					})
				})
			})
		})
	}
	one, two := sha1.Sum(a.signer.Raw), sha256.Sum256(a.signer.Raw)
	list := [][]byte{
		attr(oidContentType, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(r.content) }),
		attr(oidMessageDigest, func(b *cryptobyte.Builder) { b.AddASN1OctetString(r.digest) }),
	}
	switch r.ess {
	case "", "v2":
		list = append(list, cert(oidSigningCertV2, two[:]))
	case "v1":
		list = append(list, cert(oidSigningCert, one[:]))
	case "both":
		list = append(list, cert(oidSigningCert, one[:]), cert(oidSigningCertV2, two[:]))
	case "sha512":
		long := sha512.Sum512(a.signer.Raw)
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

func (a authority) signed(b *cryptobyte.Builder, r reply, info, attrs, sig []byte) {
	b.AddASN1Int64(3)
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) { addAlgorithm(b, r.hash.oid, r.nulls) })
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidTSTInfo)
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddASN1OctetString(info) })
	})
	if len(r.certs) > 0 {
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) {
			for _, c := range r.certs {
				b.AddBytes(c.Raw)
			}
		})
	}
	if r.crls {
		b.AddASN1(explicit(1), func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
	}
	signer := func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddBytes(sidOf(a.signer))
		addAlgorithm(b, r.hash.oid, r.nulls)
		b.AddBytes(attrs)
		switch _, isRSA := a.key.(*rsa.PrivateKey); {
		case isRSA && r.rsaName:
			addAlgorithm(b, r.hash.rsa, true)
		case isRSA:
			addAlgorithm(b, oidRSA, true)
		default:
			addAlgorithm(b, r.hash.ecdsa, false)
		}
		b.AddASN1OctetString(sig)
		if r.unsigned {
			b.AddASN1(explicit(1), func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
		}
	}
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, signer)
		if r.twice {
			b.AddASN1(der.SEQUENCE, signer)
		}
	})
}
