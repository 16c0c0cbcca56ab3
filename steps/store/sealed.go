package store

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"
)

// Settings go to a MinIO, and come from it, under a key that is made from the secret of who asks: 32 bytes of salt, one that names the
// cipher, 8 of nonce, then pieces of 16 KiB, each with a tag (MinIO, madmin-go, EncryptData). Each piece has its number as the end of
// its nonce, from one on, and what is bound to it says whether it is the last: a tag over nothing by the nonce numbered zero, behind
// 0x80 for the last piece and 0 for the others.
const (
	saltSize  = 32
	nonceSize = 8
	pieceSize = 16 << 10

	sealsAES    = 0
	sealsChaCha = 1
)

var errNotSealed = errors.New("it is not encrypted with the secret of who asked")

func cipherOf(id byte, secret string, salt []byte) (cipher.AEAD, error) {
	key := argon2.IDKey([]byte(secret), salt, 1, 64<<10, 4, 32)
	switch id {
	case sealsAES:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	case sealsChaCha:
		return chacha20poly1305.New(key)
	}
	return nil, fmt.Errorf("%w: its cipher %d is not known", errNotSealed, id)
}

// sealer numbers the pieces of one text.
type sealer struct {
	aead  cipher.AEAD
	nonce []byte
	bound []byte
}

func newSealer(aead cipher.AEAD, nonce []byte) *sealer {
	s := &sealer{aead: aead, nonce: append(bytes.Clone(nonce), 0, 0, 0, 0)}
	s.bound = aead.Seal([]byte{0}, s.nonce, nil, nil)
	return s
}

// next is the nonce of the next piece, and what is bound to it.
func (s *sealer) next(last bool) (nonce, bound []byte) {
	at := s.nonce[nonceSize:]
	binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)+1)
	if last {
		s.bound[0] = 0x80
	}
	return s.nonce, s.bound
}

// seal encrypts a text for the store.
func seal(secret string, text []byte) ([]byte, error) {
	out := make([]byte, saltSize+1+nonceSize)
	_, _ = rand.Read(out) // it never fails
	out[saltSize] = sealsAES
	aead, err := cipherOf(sealsAES, secret, out[:saltSize])
	if err != nil {
		return nil, err
	}
	s := newSealer(aead, out[saltSize+1:])
	for {
		n := min(len(text), pieceSize)
		nonce, bound := s.next(n == len(text))
		out = aead.Seal(out, nonce, text[:n], bound)
		if text = text[n:]; len(text) == 0 {
			return out, nil
		}
	}
}

// unseal decrypts what the store sent.
func unseal(secret string, raw []byte) ([]byte, error) {
	if len(raw) <= saltSize+1+nonceSize {
		return nil, errNotSealed
	}
	aead, err := cipherOf(raw[saltSize], secret, raw[:saltSize])
	if err != nil {
		return nil, err
	}
	s, raw := newSealer(aead, raw[saltSize+1:saltSize+1+nonceSize]), raw[saltSize+1+nonceSize:]
	var out []byte
	for {
		n := min(len(raw), pieceSize+aead.Overhead())
		nonce, bound := s.next(n == len(raw))
		if out, err = aead.Open(out, nonce, raw[:n], bound); err != nil {
			return nil, errNotSealed
		}
		if raw = raw[n:]; len(raw) == 0 {
			return out, nil
		}
	}
}
