package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"handrail/evidence/jsontree"
)

const (
	entryVersion = 1
	// MaxEntry is the longest journal line, newline included. Larger data belongs in a blob.
	MaxEntry = 1 << 20
	// hashSuffix is the length of `,"hash":"<64 hex>"}`: what the hash covers ends that far from the brace.
	hashSuffix = 75
	timeLayout = "2006-01-02T15:04:05.000000000Z"
)

const zeroHash = "0000000000000000000000000000000000000000000000000000000000000000"

// Entry is one journal line as stored: its strings and data are already redacted.
type Entry struct {
	V     int             `json:"v"`
	Seq   int64           `json:"seq"`
	Type  string          `json:"type"`
	T     string          `json:"t"`    // UTC, RFC 3339 with nine decimals
	Mono  string          `json:"mono"` // nanoseconds since the writing process started
	Boot  string          `json:"boot"`
	Actor string          `json:"actor"`
	Step  string          `json:"step"`
	Data  json.RawMessage `json:"data"`
	Blobs []Blob          `json:"blobs"`
	Prev  string          `json:"prev"`
	Hash  string          `json:"hash"`
}

// Time returns when the entry was written, by the wall clock of the writing host.
func (e Entry) Time() (time.Time, error) { return time.Parse(timeLayout, e.T) }

// Blob names one stored artifact. SHA256 and Size are those of the redacted bytes, which are the file.
type Blob struct {
	Role      string   `json:"role"`
	SHA256    string   `json:"sha256"`
	Size      int64    `json:"size,string"`
	Media     string   `json:"media"`
	Truncated bool     `json:"truncated"`
	Rules     []string `json:"rules"` // "<kind>=<hits>" of each redaction rule that fired; "unparsed" when structure was not understood and the bytes were withheld
}

// Draft is what a caller wants recorded. Data is marshalled with encoding/json and must become an object; nil is {}.
type Draft struct {
	Type, Actor, Step string
	Data              any
	Blobs             []Blob

	derived bool // Data holds nothing but what was stored or redacted before
}

// appendEntry writes the line of e without its newline, and returns the hash that it put last.
func appendEntry(dst []byte, e *Entry) ([]byte, string) {
	start := len(dst)
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, int64(e.V), 10)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, e.Seq, 10)
	for _, f := range [...]struct{ key, val string }{
		{`,"type":`, e.Type}, {`,"t":`, e.T}, {`,"mono":`, e.Mono}, {`,"boot":`, e.Boot}, {`,"actor":`, e.Actor}, {`,"step":`, e.Step},
	} {
		dst = append(dst, f.key...)
		dst = jsontree.AppendString(dst, f.val)
	}
	dst = append(dst, `,"data":`...)
	dst = append(dst, e.Data...)
	dst = append(dst, `,"blobs":[`...)
	for i := range e.Blobs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBlob(dst, &e.Blobs[i])
	}
	dst = append(dst, `],"prev":`...)
	dst = jsontree.AppendString(dst, e.Prev)
	hash := leafHash(dst[start:])
	dst = append(dst, `,"hash":"`...)
	dst = append(dst, hash...)
	return append(dst, `"}`...), hash
}

func appendBlob(dst []byte, b *Blob) []byte {
	dst = append(dst, `{"role":`...)
	dst = jsontree.AppendString(dst, b.Role)
	dst = append(dst, `,"sha256":`...)
	dst = jsontree.AppendString(dst, b.SHA256)
	dst = append(dst, `,"size":"`...)
	dst = strconv.AppendInt(dst, b.Size, 10)
	dst = append(dst, `","media":`...)
	dst = jsontree.AppendString(dst, b.Media)
	dst = append(dst, `,"truncated":`...)
	dst = strconv.AppendBool(dst, b.Truncated)
	dst = append(dst, `,"rules":[`...)
	for i, r := range b.Rules {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsontree.AppendString(dst, r)
	}
	return append(dst, `]}`...)
}

// leafHash is the RFC 6962 leaf hash, so that a line's hash is also its leaf in the Merkle tree of a seal.
func leafHash(covered []byte) string {
	var buf [64]byte
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(covered)
	var sum [32]byte
	hex.Encode(buf[:], h.Sum(sum[:0]))
	return string(buf[:])
}

var errNotCanonical = errors.New("line is not in canonical form")

// parseEntry reads one line, newline removed. It accepts a line only when writing the result gives the same bytes:
// one meaning has one form. It does not judge the chain.
func parseEntry(line []byte) (Entry, error) {
	c := cursor{in: line}
	var e Entry
	e.V = int(c.number(`{"v":`))
	e.Seq = c.number(`,"seq":`)
	e.Type = c.text(`,"type":`)
	e.T = c.text(`,"t":`)
	e.Mono = c.text(`,"mono":`)
	e.Boot = c.text(`,"boot":`)
	e.Actor = c.text(`,"actor":`)
	e.Step = c.text(`,"step":`)
	e.Data = c.object(`,"data":`)
	e.Blobs = c.blobs(`,"blobs":[`)
	e.Prev = c.text(`,"prev":`)
	e.Hash = c.text(`,"hash":`)
	c.expect(`}`)
	if c.err != nil {
		return Entry{}, fmt.Errorf("byte %d of the line: %w", c.pos, c.err)
	}
	if c.pos != len(line) {
		return Entry{}, fmt.Errorf("byte %d of the line: bytes after the end", c.pos)
	}
	if e.V != entryVersion {
		return Entry{}, fmt.Errorf("entry version %d, this program knows %d", e.V, entryVersion)
	}
	if !isHex64(e.Prev) || !isHex64(e.Hash) {
		return Entry{}, errors.New("prev and hash must be 64 lower-case hex digits")
	}
	if _, err := e.Time(); err != nil {
		return Entry{}, fmt.Errorf("time %q is not RFC 3339 in UTC with nine decimals", e.T)
	}
	again, hash := appendEntry(make([]byte, 0, len(line)), &e)
	if hash != e.Hash {
		if bytes.Equal(again[:len(again)-hashSuffix], line[:len(line)-hashSuffix]) {
			return Entry{}, errBadHash
		}
		return Entry{}, errNotCanonical
	}
	if !bytes.Equal(again, line) {
		return Entry{}, errNotCanonical
	}
	return e, nil
}

// cursor walks a line whose shape is fixed; the first mismatch sticks.
type cursor struct {
	in  []byte
	pos int
	err error
}

func (c *cursor) expect(lit string) bool {
	if c.err != nil {
		return false
	}
	if !bytes.HasPrefix(c.in[c.pos:], []byte(lit)) {
		c.err = fmt.Errorf("expected %s", lit)
		return false
	}
	c.pos += len(lit)
	return true
}

func (c *cursor) peek(lit string) bool {
	return c.err == nil && bytes.HasPrefix(c.in[c.pos:], []byte(lit))
}

func (c *cursor) number(key string) int64 {
	if !c.expect(key) {
		return 0
	}
	start := c.pos
	for c.pos < len(c.in) && c.in[c.pos] >= '0' && c.in[c.pos] <= '9' {
		c.pos++
	}
	n, err := strconv.ParseInt(string(c.in[start:c.pos]), 10, 64)
	if err != nil {
		c.err = errors.New("expected a number")
	}
	return n
}

func (c *cursor) text(key string) string {
	if !c.expect(key) {
		return ""
	}
	s, end, err := jsontree.ReadString(c.in, c.pos)
	if err != nil {
		c.err = err
		return ""
	}
	c.pos = end
	return s
}

func (c *cursor) object(key string) json.RawMessage {
	if !c.expect(key) {
		return nil
	}
	n, end, err := jsontree.ReadValue(c.in, c.pos, jsontree.StrictKeys)
	if err != nil {
		c.err = err
		return nil
	}
	if n.Kind != jsontree.Object {
		c.err = errors.New("data is not an object")
		return nil
	}
	c.pos = end
	return n.AppendTo(nil, -1, 0)
}

func (c *cursor) blobs(key string) []Blob {
	if !c.expect(key) {
		return nil
	}
	var out []Blob
	for !c.peek("]") && c.err == nil {
		if len(out) > 0 {
			c.expect(",")
		}
		out = append(out, c.blob())
	}
	c.expect("]")
	return out
}

func (c *cursor) blob() Blob {
	var b Blob
	b.Role = c.text(`{"role":`)
	b.SHA256 = c.text(`,"sha256":`)
	b.Size = c.number(`,"size":"`)
	b.Media = c.text(`","media":`)
	c.expect(`,"truncated":`)
	if b.Truncated = c.peek("true"); b.Truncated {
		c.expect("true")
	} else {
		c.expect("false")
	}
	c.expect(`,"rules":[`)
	for !c.peek("]") && c.err == nil {
		if len(b.Rules) > 0 {
			b.Rules = append(b.Rules, c.text(","))
		} else {
			b.Rules = append(b.Rules, c.text(""))
		}
	}
	c.expect("]}")
	if c.err == nil && !isHex64(b.SHA256) {
		c.err = errors.New("blob name is not 64 lower-case hex digits")
	}
	return b
}

func isHex64(s string) bool { return len(s) == 64 && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Types says which types of entries the users of a bundle know, beside those of the store; nil is all. Each is a name
// of lower-case words with dots between them.
type Types func(name string) bool

func (t Types) known(name string) bool {
	return storeType(name) || typeName.MatchString(name) && (t == nil || t(name))
}

var typeName = regexp.MustCompile(`^[a-z]+(\.[a-z]+)*$`)

// storeType reports whether the store writes a type by itself; env and reveal also for its callers.
func storeType(t string) bool {
	switch t {
	case "env", "checkpoint", "reveal", "recover", "seal", "reopen":
		return true
	}
	return false
}
