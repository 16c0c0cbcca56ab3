package evidence

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/asn1"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// plain is the reply with status granted and without what nothing vouches for: words of the status, revocation lists,
// unsigned attributes, certificates that did not issue one another, and other spellings of the algorithms.
func (t *timeStamp) plain() ([]byte, error) {
	certs := make([][]byte, 0, len(t.chain))
	for _, c := range t.chain {
		certs = append(certs, c.Raw)
	}
	slices.SortFunc(certs, bytes.Compare)
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1Int64(0) })
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(oidSignedData)
			b.AddASN1(explicit(0), func(b *cryptobyte.Builder) {
				b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) { t.addSigned(b, certs) })
			})
		})
	})
	return b.Bytes()
}

func (t *timeStamp) addSigned(b *cryptobyte.Builder, certs [][]byte) {
	b.AddASN1Int64(3)
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) { addAlgorithm(b, t.digest.oid, false) })
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidTSTInfo)
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddASN1OctetString(t.info) })
	})
	b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddBytes(bytes.Join(certs, nil)) })
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddBytes(t.sid)
			addAlgorithm(b, t.digest.oid, false)
			b.AddBytes(append([]byte{byte(explicit(0))}, t.attrs[1:]...))
			switch t.chain[0].PublicKey.(type) {
			case *rsa.PublicKey:
				addAlgorithm(b, oidRSA, true)
			case *ecdsa.PublicKey:
				addAlgorithm(b, t.digest.ecdsa, false)
			default:
				addAlgorithm(b, oidEd25519, false)
			}
			b.AddASN1OctetString(t.signature)
		})
	})
}

func addAlgorithm(b *cryptobyte.Builder, oid asn1.ObjectIdentifier, null bool) {
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
}
