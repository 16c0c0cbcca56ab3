package sig

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/asn1"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	der "golang.org/x/crypto/cryptobyte/asn1"
)

// Plain is the reply with status granted and without what nothing vouches for: words of the status, revocation lists,
// unsigned attributes, certificates that did not issue one another, and other spellings of the algorithms.
func (t *TimeStamp) Plain() ([]byte, error) {
	certs := make([][]byte, 0, len(t.Chain))
	for _, c := range t.Chain {
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

func (t *TimeStamp) addSigned(b *cryptobyte.Builder, certs [][]byte) {
	b.AddASN1Int64(3)
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) { AddAlgorithm(b, t.digest.Oid, false) })
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidTSTInfo)
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddASN1OctetString(t.Info) })
	})
	b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddBytes(bytes.Join(certs, nil)) })
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddBytes(t.sid)
			AddAlgorithm(b, t.digest.Oid, false)
			b.AddBytes(append([]byte{byte(explicit(0))}, t.attrs[1:]...))
			switch t.Chain[0].PublicKey.(type) {
			case *rsa.PublicKey:
				AddAlgorithm(b, oidRSA, true)
			case *ecdsa.PublicKey:
				AddAlgorithm(b, t.digest.ecdsa, false)
			default:
				AddAlgorithm(b, oidEd25519, false)
			}
			b.AddASN1OctetString(t.signature)
		})
	})
}

func AddAlgorithm(b *cryptobyte.Builder, oid asn1.ObjectIdentifier, null bool) {
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
}
