package sig

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SealNamespace is what a signature of a checkpoint is for. It stops a signature that was made for something else, a
// commit say, from passing as a seal.
const SealNamespace = "seal-v1@handrail"

const (
	sigMagic     = "SSHSIG"
	sigBegin     = "-----BEGIN SSH SIGNATURE-----\n"
	sigEnd       = "-----END SSH SIGNATURE-----\n"
	sigColumns   = 70 // where ssh-keygen breaks its lines
	MaxSignature = 16 << 10
	minRSA       = 2048
)

var errSigForm = errors.New("not an SSH signature in its one form")

// Signature is a signature in OpenSSH's format (PROTOCOL.sshsig), as far as it can be told without the signed text.
type Signature struct {
	Key       ssh.PublicKey
	namespace string
	hash      string
	sig       ssh.Signature
}

// ParseSignature reads an armoured signature. Base64 and multi-precision integers have several spellings, so that a flipped
// bit can leave a signature what it was; only the form that ssh-keygen writes is taken.
func ParseSignature(armoured []byte) (Signature, error) {
	text, ok := bytes.CutPrefix(armoured, []byte(sigBegin))
	if ok {
		text, ok = bytes.CutSuffix(text, []byte(sigEnd))
	}
	if !ok || len(armoured) > MaxSignature {
		return Signature{}, errSigForm
	}
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
	if err != nil || !bytes.Equal(armourSig(raw), armoured) {
		return Signature{}, errSigForm
	}
	return readSig(raw)
}

func readSig(raw []byte) (Signature, error) {
	r := sshReader{in: raw}
	magic, version := r.take(len(sigMagic)), r.take(4)
	key, namespace, reserved, hash, blob := r.field(), r.field(), r.field(), r.field(), r.field()
	if r.bad || len(r.in) > 0 || string(magic) != sigMagic || len(reserved) > 0 {
		return Signature{}, errSigForm
	}
	if v := binary.BigEndian.Uint32(version); v != 1 {
		return Signature{}, fmt.Errorf("signature version %d, this handrail knows 1", v)
	}
	s := Signature{namespace: string(namespace), hash: string(hash)}
	pub, err := ssh.ParsePublicKey(key)
	if err != nil {
		return Signature{}, fmt.Errorf("public key of the signature: %w", err)
	}
	if !bytes.Equal(pub.Marshal(), key) {
		return Signature{}, errSigForm
	}
	if err := usableKey(pub); err != nil {
		return Signature{}, err
	}
	s.Key = pub
	b := sshReader{in: blob}
	s.sig.Format, s.sig.Blob = string(b.field()), b.field()
	if s.sig.Rest = b.in; b.bad {
		return Signature{}, errSigForm
	}
	return s, s.oneForm()
}

// oneForm refuses the other spellings of the same numbers, and bytes that nothing reads.
func (s Signature) oneForm() error {
	type numbers struct{ R, S *big.Int }
	isSK := strings.HasPrefix(s.sig.Format, "sk-")
	if isSK != (len(s.sig.Rest) == 5) || !isSK && len(s.sig.Rest) > 0 {
		return errSigForm
	}
	switch s.sig.Format {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519:
		if len(s.sig.Blob) != 64 {
			return errSigForm
		}
	case ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256:
		var n numbers
		if err := ssh.Unmarshal(s.sig.Blob, &n); err != nil || !bytes.Equal(ssh.Marshal(n), s.sig.Blob) {
			return errSigForm
		}
	case ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512:
		if bits, err := rsaBits(s.Key); err != nil || len(s.sig.Blob) != (bits+7)/8 {
			return errSigForm
		}
	default:
		return fmt.Errorf("signature algorithm %q is not taken", s.sig.Format)
	}
	return nil
}

// usableKey says which kinds of key may sign a seal.
func usableKey(pub ssh.PublicKey) error {
	if _, ok := pub.(*ssh.Certificate); ok {
		return fmt.Errorf("signed by a certificate (%s); handrail takes plain keys only", pub.Type())
	}
	switch pub.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		if bits, err := rsaBits(pub); err != nil || bits < minRSA {
			return fmt.Errorf("RSA key of %d bits; at least %d are asked for", bits, minRSA)
		}
		return nil
	}
	return fmt.Errorf("key type %q is not taken", pub.Type())
}

func rsaBits(pub ssh.PublicKey) (int, error) {
	var k struct {
		Name string
		E, N *big.Int
	}
	if err := ssh.Unmarshal(pub.Marshal(), &k); err != nil {
		return 0, err
	}
	return k.N.BitLen(), nil
}

// Verify reports whether the signature is one of text, for a seal.
func (s Signature) Verify(text []byte) error { return s.verifyFor(SealNamespace, "checkpoint", text) }

// verifyFor is verify for what has another namespace.
func (s Signature) verifyFor(namespace, what string, text []byte) error {
	if s.namespace != namespace {
		return fmt.Errorf("signature is for %q and not for %q", s.namespace, namespace)
	}
	covered, err := sigCovers(s.namespace, s.hash, text)
	if err != nil {
		return err
	}
	if err := s.Key.Verify(covered, &s.sig); err != nil {
		return fmt.Errorf("signature by %s is not one of this %s: %w", ssh.FingerprintSHA256(s.Key), what, err)
	}
	return nil
}

// sigCovers is the text that an SSH signature covers.
func sigCovers(namespace, hash string, text []byte) ([]byte, error) {
	var sum []byte
	switch hash {
	case "sha512":
		h := sha512.Sum512(text)
		sum = h[:]
	case "sha256":
		h := sha256.Sum256(text)
		sum = h[:]
	default:
		return nil, fmt.Errorf("signature over hash %q; sha512 and sha256 are taken", hash)
	}
	out := []byte(sigMagic)
	for _, f := range [...][]byte{[]byte(namespace), nil, []byte(hash), sum} {
		out = appendField(out, f)
	}
	return out, nil
}

// SignSeal makes an armoured signature of text for a seal.
func SignSeal(signer ssh.Signer, text []byte) ([]byte, error) {
	return signFor(signer, SealNamespace, "checkpoint", text)
}

// signFor makes an armoured signature of text. Signing by a hardware key waits for its touch.
func signFor(signer ssh.Signer, namespace, what string, text []byte) ([]byte, error) {
	pub := signer.PublicKey()
	if err := usableKey(pub); err != nil {
		return nil, err
	}
	const hash = "sha512"
	covered, err := sigCovers(namespace, hash, text)
	if err != nil {
		return nil, err
	}
	sig, err := signBytes(signer, covered)
	if err != nil {
		return nil, fmt.Errorf("signing with %s: %w", ssh.FingerprintSHA256(pub), err)
	}
	armoured := armourSig(packSig(pub, namespace, hash, sig))
	// An agent is another program: what it gave is a signature only once it verifies.
	back, err := ParseSignature(armoured)
	if err == nil {
		err = back.verifyFor(namespace, what, text)
	}
	if err != nil {
		return nil, fmt.Errorf("what %s signed does not verify: %w", ssh.FingerprintSHA256(pub), err)
	}
	return armoured, nil
}

func packSig(pub ssh.PublicKey, namespace, hash string, sig *ssh.Signature) []byte {
	blob := appendField(appendField(nil, []byte(sig.Format)), sig.Blob)
	raw := binary.BigEndian.AppendUint32([]byte(sigMagic), 1)
	for _, f := range [...][]byte{pub.Marshal(), []byte(namespace), nil, []byte(hash), append(blob, sig.Rest...)} {
		raw = appendField(raw, f)
	}
	return raw
}

func signBytes(signer ssh.Signer, covered []byte) (*ssh.Signature, error) {
	if signer.PublicKey().Type() != ssh.KeyAlgoRSA {
		return signer.Sign(rand.Reader, covered)
	}
	// Without a word of ours an RSA key signs over SHA-1.
	a, ok := signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("this RSA key cannot sign over SHA-512")
	}
	return a.SignWithAlgorithm(rand.Reader, covered, ssh.KeyAlgoRSASHA512)
}

func armourSig(raw []byte) []byte {
	text := make([]byte, base64.StdEncoding.EncodedLen(len(raw)))
	base64.StdEncoding.Encode(text, raw)
	out := []byte(sigBegin)
	for line := range slices.Chunk(text, sigColumns) {
		out = append(append(out, line...), '\n')
	}
	return append(out, sigEnd...)
}

func appendField(dst, field []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(field))), field...)
}

// sshReader reads SSH's length-prefixed fields; the first that does not fit sticks.
type sshReader struct {
	in  []byte
	bad bool
}

func (r *sshReader) take(n int) []byte {
	if r.bad || n > len(r.in) {
		r.bad = true
		return make([]byte, min(n, 8))
	}
	out := r.in[:n]
	r.in = r.in[n:]
	return out
}

func (r *sshReader) field() []byte {
	n := binary.BigEndian.Uint32(r.take(4))
	if uint64(n) > uint64(len(r.in)) {
		r.bad = true
		return nil
	}
	return r.take(int(n))
}
