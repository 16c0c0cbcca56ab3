package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math/bits"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"handrail/evidence/jsontree"
)

// minKnown is the shortest known value; it is also how much of one is looked for.
const minKnown = 8

// knownSet holds the values a session knows to be secret, in every form in which they may turn up. It is immutable.
// The first eight bytes of each form are looked up in a bitmap by their hash at every place of the input, and by another hash in
// another bitmap where the first has them: that costs the same for three values and for thirty thousand.
type knownSet struct {
	bits    []uint64 // bitmap of hashed heads, a power of two long
	sure    []uint64 // the same by the other hash
	shift   uint
	heads   map[uint64][]knownForm // by head, longest form first
	longest int
}

type knownForm struct {
	form  string
	value string // what the token stands for
}

const (
	hashFirst = 0x9E3779B97F4A7C15
	hashOther = 0xC2B2AE3D27D4EB4F
)

// Secret names a value that is hidden from now on, in every form in which it may turn up.
func (r *Redactor) Secret(value string) {
	if len(value) < minKnown {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw[value] {
		return
	}
	r.raw[value] = true
	// A stream sees one line at a time, so the lines of a longer value count on their own as well.
	for line := range strings.Lines(value) {
		// The first line of one key is that of any other, which is found by it.
		if line = strings.TrimRight(line, "\r\n"); len(line) >= 2*minKnown && !strings.HasPrefix(line, "-----") {
			r.raw[line] = true
		}
	}
	r.known = nil
}

func (r *Redactor) knownValues() *knownSet {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = newKnownSet(r.raw)
	}
	return r.known
}

func newKnownSet(values map[string]bool) *knownSet {
	forms := map[string]string{}
	for v := range values {
		for _, f := range knownForms(v) {
			if old, ok := forms[f]; len(f) >= minKnown && (!ok || v < old) {
				forms[f] = v
			}
		}
	}
	set := &knownSet{heads: map[uint64][]knownForm{}}
	for f, v := range forms {
		head := binary.LittleEndian.Uint64([]byte(f[:minKnown]))
		set.heads[head] = append(set.heads[head], knownForm{f, v})
		set.longest = max(set.longest, len(f))
	}
	if len(forms) == 0 {
		return set
	}
	// 64 bits a head leave one place in 64 to the map, which costs less than the bitmap itself.
	size := min(max(bits.Len(uint(len(set.heads)))+6, 12), 24)
	set.bits, set.sure, set.shift = make([]uint64, 1<<(size-6)), make([]uint64, 1<<(size-6)), uint(64-size)
	for head, list := range set.heads {
		h, other := head*hashFirst>>set.shift, head*hashOther>>set.shift
		set.bits[h>>6] |= 1 << (h & 63)
		set.sure[other>>6] |= 1 << (other & 63)
		slices.SortFunc(list, func(a, b knownForm) int {
			if d := len(b.form) - len(a.form); d != 0 {
				return d
			}
			return strings.Compare(a.form, b.form)
		})
	}
	return set
}

// knownForms returns the value raw and as JSON, URLs, hex, UTF-16 and base64 write it: what may be written in more than one way in
// each of them, and base64 at each of the three alignments.
func knownForms(v string) []string {
	out := []string{v, strings.TrimSpace(v), hexOf(v, "0123456789abcdef"), hexOf(v, "0123456789ABCDEF")}
	for _, esc := range [...]string{url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(url.QueryEscape(v), "+", "%20")} {
		out = append(out, esc, lowerEscapes(esc))
	}
	if esc, err := json.Marshal(v); err == nil {
		out = append(out, string(esc[1:len(esc)-1]))
	}
	own := jsontree.AppendString(nil, v)
	esc := string(own[1 : len(own)-1])
	out = append(out, esc, strings.ReplaceAll(esc, "/", `\/`), asciiJSON(v))
	for _, f := range [...]string{v, string(utf16Bytes(v, false)), string(utf16Bytes(v, true))} {
		out = append(out, f)
		for _, enc := range [...]*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			out = append(out, enc.EncodeToString([]byte(f)))
			for shift := range 3 {
				out = append(out, base64Core(enc, f, shift))
			}
		}
	}
	return append(out, base64.StdEncoding.EncodeToString([]byte(v+"\n")), base64.URLEncoding.EncodeToString([]byte(v+"\n")))
}

func hexOf(v, digits string) string {
	out := make([]byte, 0, 2*len(v))
	for i := range len(v) {
		out = append(out, digits[v[i]>>4], digits[v[i]&15])
	}
	return string(out)
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = b[i+1]|0x20, b[i+2]|0x20 // digits have that bit
		}
	}
	return string(b)
}

// asciiJSON is v as JSON that leaves nothing but ASCII, which Python and PHP write.
func asciiJSON(v string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(v)) {
		switch {
		case u >= 0x7f:
			out = jsontree.AppendEscape(out, rune(u))
		default:
			s := jsontree.AppendString(nil, string(rune(u)))
			out = append(out, s[1:len(s)-1]...)
		}
	}
	return string(out)
}

func utf16Bytes(v string, big bool) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(v)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// base64Core returns the characters that v always yields when it stands shift bytes (modulo 3) into what is encoded.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	all := enc.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	return all[(shift*8+5)/6 : (shift+len(v))*8/6]
}

// replace writes in to dst with known values as tokens. Unless final, it stops where a value could go on beyond in.
func (k *knownSet) replace(dst, in []byte, final bool, r *Redactor, n Counts) ([]byte, int) {
	if len(k.bits) == 0 {
		return append(dst, in...), len(in)
	}
	stop := len(in)
	if !final {
		stop = max(0, len(in)-k.longest+1)
	}
	done := 0
	for i := k.find(in, 0, stop); i < stop; i = k.find(in, i, stop) {
		f, ok := k.at(in[i:])
		if !ok {
			i++
			continue
		}
		dst = append(dst, in[done:i]...)
		dst = r.token(dst, "known", bytes.TrimSpace([]byte(f.value)))
		n.add("known")
		i += len(f.form)
		done = i
	}
	if done < stop {
		dst = append(dst, in[done:stop]...)
		done = stop
	}
	return dst, done
}

// find returns the first place from i on, before stop, where a known value may begin.
func (k *knownSet) find(in []byte, i, stop int) int {
	set, shift := k.bits, k.shift
	for last := min(stop, len(in)-minKnown+1); i < last; i++ {
		head := binary.LittleEndian.Uint64(in[i:])
		if h := head * hashFirst >> shift; set[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		if h := head * hashOther >> shift; k.sure[h>>6]&(1<<(h&63)) != 0 {
			return i
		}
	}
	return stop
}

func (k *knownSet) at(in []byte) (knownForm, bool) {
	for _, f := range k.heads[binary.LittleEndian.Uint64(in)] {
		if len(in) >= len(f.form) && string(in[:len(f.form)]) == f.form {
			return f, true
		}
	}
	return knownForm{}, false
}

// Learned is how many values are known: none is ever forgotten.
func (r *Redactor) Learned() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.raw)
}

// Values are the known values, in no order.
func (r *Redactor) Values() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.raw))
}
