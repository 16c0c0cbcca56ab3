// Package sigtest makes keys, signatures and time stamps for tests: from a name alone, the same each time, and with every way in which
// they can be wrong. It knows nothing of the package that reads them, so that the two cannot err together. Only tests import it.
package sigtest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"golang.org/x/crypto/ssh"
)

// TB is what is needed of a test.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// carolKey is an RSA key made for these tests; it opens nothing.
//
//go:embed testdata/keys/carol_rsa
var carolKey []byte

// Key is a key that can be made again from its name. That of bob is ECDSA, that of carol RSA, those of erin and frank are of
// hardware, and all others Ed25519.
func Key(t TB, name string) ssh.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte("handrail test key " + name))
	var raw any
	switch {
	case name == "carol":
		s, err := ssh.ParsePrivateKey(carolKey)
		if err != nil {
			t.Fatal(err)
		}
		return s
	case name == "erin":
		return NewToken(t, ssh.KeyAlgoSKED25519, name)
	case name == "frank":
		return NewToken(t, ssh.KeyAlgoSKECDSA256, name)
	case name == "bob":
		k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
		if err != nil {
			t.Fatal(err)
		}
		raw = k
	default:
		raw = ed25519.NewKeyFromSeed(seed[:])
	}
	s, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Sign makes an armoured SSHSIG, the same each time.
func Sign(t TB, s ssh.Signer, namespace string, text []byte) []byte {
	t.Helper()
	return Armour(Pack(s.PublicKey(), namespace, SignCovered(t, s, Covered(namespace, text))))
}

const magic = "SSHSIG"

// Covered is what an SSHSIG of text covers, with SHA-512.
func Covered(namespace string, text []byte) []byte {
	sum := sha512.Sum512(text)
	out := []byte(magic)
	for _, f := range [...][]byte{[]byte(namespace), nil, []byte("sha512"), sum[:]} {
		out = Field(out, f)
	}
	return out
}

// SignCovered signs what is covered.
func SignCovered(t TB, s ssh.Signer, covered []byte) *ssh.Signature {
	t.Helper()
	sign := func() (*ssh.Signature, error) { return s.Sign(nil, covered) } // without randomness ECDSA follows RFC 6979
	if s.PublicKey().Type() == ssh.KeyAlgoRSA {
		sign = func() (*ssh.Signature, error) {
			return s.(ssh.AlgorithmSigner).SignWithAlgorithm(nil, covered, ssh.KeyAlgoRSASHA512)
		}
	}
	sig, err := sign()
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// Pack is an SSHSIG without its armour.
func Pack(pub ssh.PublicKey, namespace string, sig *ssh.Signature) []byte {
	blob := Field(Field(nil, []byte(sig.Format)), sig.Blob)
	raw := binary.BigEndian.AppendUint32([]byte(magic), 1)
	for _, f := range [...][]byte{pub.Marshal(), []byte(namespace), nil, []byte("sha512"), append(blob, sig.Rest...)} {
		raw = Field(raw, f)
	}
	return raw
}

// Field appends a field with its length before it.
func Field(dst, field []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(field))), field...)
}

// The lines around an SSHSIG.
const (
	Begin = "-----BEGIN SSH SIGNATURE-----\n"
	End   = "-----END SSH SIGNATURE-----\n"
)

// Armour is an SSHSIG as ssh-keygen writes it.
func Armour(raw []byte) []byte {
	out := []byte(Begin)
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(raw)), 70) {
		out = append(append(out, line...), '\n')
	}
	return append(out, End...)
}

// EveryBit calls good with each bit of data changed, in place; it may hold of the unchanged data alone.
func EveryBit(t TB, name string, data []byte, good func() bool) {
	t.Helper()
	if !good() {
		t.Fatalf("%s: unchanged, it is not good", name)
	}
	for bit := range len(data) * 8 {
		data[bit/8] ^= 1 << (bit % 8)
		if good() {
			t.Fatalf("%s: bit %d is not noticed", name, bit)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	t.Logf("%s: %d bits, all noticed", name, 8*len(data))
}
