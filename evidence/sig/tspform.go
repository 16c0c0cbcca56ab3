package sig

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"math/big"
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
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) { addAlgorithm(b, t.digest.oid, false) })
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidTSTInfo)
		b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddASN1OctetString(t.Info) })
	})
	b.AddASN1(explicit(0), func(b *cryptobyte.Builder) { b.AddBytes(bytes.Join(certs, nil)) })
	b.AddASN1(der.SET, func(b *cryptobyte.Builder) {
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1Int64(1)
			b.AddBytes(t.sid)
			addAlgorithm(b, t.digest.oid, false)
			b.AddBytes(append([]byte{byte(explicit(0))}, t.attrs[1:]...))
			switch t.Chain[0].PublicKey.(type) {
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

// Query is what an authority is asked (TimeStampReq in DER): a time stamp of text, with this nonce where it is not nil, and with the
// certificate of the signer.
func Query(text []byte, nonce *big.Int) ([]byte, error) {
	sum := sha256.Sum256(text)
	var b cryptobyte.Builder
	b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1(der.SEQUENCE, func(b *cryptobyte.Builder) {
			addAlgorithm(b, stampHashes[0].oid, true)
			b.AddASN1OctetString(sum[:])
		})
		if nonce != nil {
			b.AddASN1BigInt(nonce)
		}
		b.AddASN1Boolean(true) // with its certificate
	})
	return b.Bytes()
}
