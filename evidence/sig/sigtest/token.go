package sigtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"io"
	"math/big"

	"golang.org/x/crypto/ssh"
)

// Token signs as a FIDO token does (OpenSSH, PROTOCOL.u2f), in software and from a name alone.
type Token struct {
	pub     ssh.PublicKey
	sign    func(signed []byte) (blob []byte, err error)
	Flags   byte
	counter uint32
}

const (
	skApplication = "ssh:"
	skTouched     = 1 // it was touched
)

// NewToken makes one of a kind that ssh knows.
func NewToken(t TB, kind, name string) *Token {
	t.Helper()
	k := &Token{Flags: skTouched, counter: 7}
	seed := sha256.Sum256([]byte("handrail test token " + name))
	var err error
	switch kind {
	case ssh.KeyAlgoSKED25519:
		key := ed25519.NewKeyFromSeed(seed[:])
		k.sign = func(signed []byte) ([]byte, error) { return ed25519.Sign(key, signed), nil }
		k.pub, err = ssh.ParsePublicKey(ssh.Marshal(struct {
			Kind        string
			Key         []byte
			Application string
		}{kind, key.Public().(ed25519.PublicKey), skApplication}))
	case ssh.KeyAlgoSKECDSA256:
		key := stampKey(t, "token "+name).(*ecdsa.PrivateKey)
		k.sign = func(signed []byte) ([]byte, error) {
			sum := sha256.Sum256(signed)
			raw, err := key.Sign(nil, sum[:], crypto.SHA256)
			if err != nil {
				return nil, err
			}
			var n struct{ R, S *big.Int }
			_, err = asn1.Unmarshal(raw, &n)
			return ssh.Marshal(n), err
		}
		var point []byte
		if point, err = key.PublicKey.Bytes(); err == nil {
			k.pub, err = ssh.ParsePublicKey(ssh.Marshal(struct {
				Kind, Curve string
				Point       []byte
				Application string
			}{kind, "nistp256", point, skApplication}))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// PublicKey is its public half.
func (k *Token) PublicKey() ssh.PublicKey { return k.pub }

// Sign says by its flags that it was touched.
func (k *Token) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	application, message := sha256.Sum256([]byte(skApplication)), sha256.Sum256(data)
	rest := binary.BigEndian.AppendUint32([]byte{k.Flags}, k.counter)
	signed := append(append(append([]byte(nil), application[:]...), rest...), message[:]...)
	blob, err := k.sign(signed)
	return &ssh.Signature{Format: k.pub.Type(), Blob: blob, Rest: rest}, err
}
