package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"sync"
)

const (
	TokenOpen  = "<redacted:"
	forgedOpen = "<forged-redacted:"
	tokenTag   = 10 // hex digits that stand for the value
	tokenHex   = 16 // with six more that only the key's holder can make
	maxKind    = 32
)

// KeySize is how many bytes a key has.
const KeySize = 32

var bareToken = regexp.MustCompile(`<redacted:[a-z0-9-]{1,32}:[0-9a-f]{16}>`)

// token is what stands for value. Its digits depend on the value and the bundle's key only, so the same secret found by
// two rules is seen to be the same.
func (r *Redactor) token(dst []byte, kind string, value []byte) []byte {
	var tag [tokenHex]byte
	k := r.keyed.Load()
	hex.Encode(tag[:tokenTag], k.mac("value", value)[:tokenTag/2])
	hex.Encode(tag[tokenTag:], k.mac("check", tag[:tokenTag])[:(tokenHex-tokenTag)/2])
	dst = append(dst, TokenOpen...)
	dst = append(dst, kind...)
	dst = append(dst, ':')
	dst = append(dst, tag[:]...)
	return append(dst, '>')
}

// keyed makes the digits of tokens with one key.
type keyed struct {
	key  []byte
	macs sync.Pool // keyed hashes, to be used again
}

func (k *keyed) mac(domain string, value []byte) []byte {
	h, ok := k.macs.Get().(hash.Hash)
	if !ok {
		h = hmac.New(sha256.New, k.key)
	}
	defer k.macs.Put(h)
	h.Reset()
	h.Write([]byte(domain))
	h.Write([]byte{0})
	h.Write(value)
	return h.Sum(nil)
}

// tokenAt returns the length of this bundle's own token at the start of b, or 0. cut says that b ends before one can
// tell.
func (r *Redactor) tokenAt(b []byte) (n int, cut bool) {
	if !bytes.HasPrefix(b, []byte(TokenOpen)) {
		return 0, bytes.HasPrefix([]byte(TokenOpen), b)
	}
	i := len(TokenOpen)
	for i < len(b) && i < len(TokenOpen)+maxKind && (b[i] >= 'a' && b[i] <= 'z' || b[i] >= '0' && b[i] <= '9' || b[i] == '-') {
		i++
	}
	end := i + 1 + tokenHex + 1
	if end > len(b) {
		return 0, true
	}
	if b[i] != ':' || b[end-1] != '>' || i == len(TokenOpen) {
		return 0, false
	}
	tag := b[i+1 : end-1]
	if !hexOnly(string(tag)) {
		return 0, false
	}
	if r.foreign {
		return end, false
	}
	var want [tokenHex - tokenTag]byte
	hex.Encode(want[:], r.keyed.Load().mac("check", tag[:tokenTag])[:len(want)/2])
	if subtle.ConstantTimeCompare(want[:], tag[tokenTag:]) != 1 && !r.hasHeard(b[:end]) {
		return 0, false
	}
	return end, false
}

// maxHeard bounds what one journal may make its writer remember.
const maxHeard = 1 << 16

// Hear remembers the tokens of an entry. Only a true one gets into an entry, so that they stay what they are when the
// key is another one by now.
func (r *Redactor) Hear(line []byte) {
	if !bytes.Contains(line, []byte(TokenOpen)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range bareToken.FindAll(line, maxHeard) {
		if len(r.heard) < maxHeard {
			r.heard[string(t)] = true
		}
	}
}

func (r *Redactor) hasHeard(token []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard[string(token)]
}

// onlyTokens reports whether b is nothing but tokens of this bundle, one after the other.
func (r *Redactor) onlyTokens(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for len(b) > 0 {
		n, _ := r.tokenAt(b)
		if n == 0 {
			return false
		}
		b = b[n:]
	}
	return true
}

// Counts says how often each kind of secret was found.
type Counts map[string]int

func (c Counts) add(kind string) {
	if c != nil {
		c[kind]++
	}
}

// List is KIND=count of each, sorted.
func (c Counts) List() []string {
	out := make([]string, 0, len(c))
	for kind, n := range c {
		if kind == Unparsed {
			out = append(out, Unparsed)
			continue
		}
		out = append(out, fmt.Sprintf("%s=%d", kind, n))
	}
	slices.Sort(out)
	return out
}
