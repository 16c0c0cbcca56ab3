package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
)

// encodedMost is how much of one encoded run is looked into at once.
const encodedMost = 64 << 10

// minRun is the shortest run that is looked at: as much as a value needs that its looks alone give away.
const minRun = minAlone

// minEncoded is the shortest run of base64 that is looked into: sixteen bytes and two, since a prefix may touch it.
const minEncoded = 24

const (
	b64Lower = 1 << iota
	b64Upper
	b64Digit
	b64Standard // + and /
	b64URL      // - and _
	b64Mark     // no base64, but what passwords have
)

// base64Class says of each byte what it is in base64, or 0.
var base64Class = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = b64Lower
		case c >= 'A' && c <= 'Z':
			t[c] = b64Upper
		case c >= '0' && c <= '9':
			t[c] = b64Digit
		case c == '+' || c == '/':
			t[c] = b64Standard
		case c == '-' || c == '_':
			t[c] = b64URL
		case bytes.IndexByte([]byte(".~!$%^*"), byte(c)) >= 0:
			t[c] = b64Mark
		}
	}
	return t
}()

// encoded looks into the run at [start, end): into its base64 and its hex, which it hides when the decoded bytes hold a secret, and
// then at the looks of the run itself.
func encoded(p place, start, end int) (hit, bool) {
	var has uint8
	upper := 0
	for _, c := range p.in[start:end] {
		class := base64Class[c]
		has |= class
		upper += int(class & b64Upper)
	}
	if has&b64Digit != 0 && has&^(b64Lower|b64Upper|b64Digit) == 0 {
		if h, ok := hexadecimal(p, start, end); ok {
			return h, true
		}
	}
	if has&(b64Lower|b64Upper) != b64Lower|b64Upper {
		return hit{}, false // names, paths and digests
	}
	text := false
	for from := start; from < end; {
		to := from
		for to < end && base64Class[p.in[to]] != b64Mark {
			to++
		}
		if to-from >= minEncoded {
			h, ok, reads := base64Of(p, from, to)
			if ok {
				return h, true
			}
			text = text || reads
		}
		from = to + 1
	}
	if text || p.shy || upper < capitals*b64Upper || has&b64Digit == 0 && end-start < minDigitless {
		return hit{}, false
	}
	return byLooks(p, start, end)
}

// base64Of looks into a run of base64. reads says that it holds text in which nothing was found.
func base64Of(p place, start, end int) (h hit, ok, reads bool) {
	var has uint8
	for _, c := range p.in[start:end] {
		has |= base64Class[c]
	}
	// Text in base64 has both cases and is of one alphabet; names, paths and digests are not.
	if has&(b64Lower|b64Upper) != b64Lower|b64Upper || has&(b64Standard|b64URL) == b64Standard|b64URL {
		return hit{}, false, false
	}
	run := p.in[start:end]
	enc := base64.RawStdEncoding
	if has&b64URL != 0 {
		enc = base64.RawURLEncoding
	}
	// An escape like \n before the run lends it a letter, which shifts the alignment; so does a word that touches it.
	for skip := 0; skip < 4 && skip < len(run); skip++ {
		part := run[skip:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		p.seen.raw = slices.Grow(p.seen.raw[:0], enc.DecodedLen(len(part)))
		raw := p.seen.raw[:enc.DecodedLen(len(part))]
		if _, err := enc.Decode(raw, part); err != nil {
			continue
		}
		p.seen.work += len(raw) / 2
		if !mostlyText(raw) {
			continue // noise, or out of step
		}
		h, ok := p.r.look(raw)
		if !ok && isPlain(raw) {
			h, ok = hit{kind: "authorization", value: raw, end: len(raw)}, true
		}
		if ok {
			for end < len(p.in) && p.in[end] == '=' {
				end++
			}
			v := bytes.TrimSpace(raw)
			if len(h.value) > 0 && h.end-h.start >= len(v) {
				v = h.value
			}
			return hit{start: start + skip, end: end, kind: h.kind, value: v, more: end == len(p.in) || end >= start+encodedMost}, true, false
		}
		reads = reads || isText(raw)
	}
	return hit{}, false, reads
}

// mostlyText reports whether three of four bytes can be printed, or could in UTF-16. Of random ones a third can.
func mostlyText(raw []byte) bool {
	none := 0
	for i, c := range raw {
		if none += int(unprinted[c]); none*4 > len(raw) && i%16 == 15 {
			return isWide(raw)
		}
	}
	return none*4 <= len(raw) || isWide(raw)
}

// unprinted has 1 for each byte that no text has.
var unprinted = func() (t [256]uint8) {
	for c := range 0xc2 {
		if (c < ' ' || c >= 0x7f) && c != '\n' && c != '\r' && c != '\t' {
			t[c] = 1
		}
	}
	return t
}()

// isPlain reports whether decoded bytes are a user and a password as SASL PLAIN and others send them: parted by NUL.
func isPlain(raw []byte) bool {
	if len(raw) > 512 || bytes.Count(raw, []byte{0}) != 2 {
		return false
	}
	last := raw[bytes.LastIndexByte(raw, 0)+1:]
	return len(last) > 0 && isText(bytes.ReplaceAll(raw, []byte{0}, nil))
}

// hexadecimal looks into a run of hex when it is that of text.
func hexadecimal(p place, start, end int) (hit, bool) {
	if end-start < 2*minKnown {
		return hit{}, false
	}
	run := p.in[start:end]
	if len(run) > 2 && run[0] == '0' && run[1]|0x20 == 'x' {
		start, run = start+2, run[2:]
	}
	if len(run)%2 == 1 {
		run = run[:len(run)-1]
	}
	if !isHexDigit(run[0]) || !isHexDigit(run[len(run)/2]) || unhex(run[0]) > 7 {
		return hit{}, false
	}
	raw := make([]byte, len(run)/2)
	if _, err := hex.Decode(raw, run); err != nil || !isText(raw) && !isWide(raw) {
		return hit{}, false
	}
	p.seen.work += len(raw)
	h, ok := p.r.look(raw)
	if !ok {
		return hit{}, false
	}
	v := bytes.TrimSpace(raw)
	if len(h.value) > 0 && h.end-h.start >= len(v) {
		v = h.value
	}
	return hit{start: start, end: end, kind: h.kind, value: v, more: end == len(p.in) || end >= start+encodedMost}, true
}

// beside reports whether a token touches the run, or is the value of what the run names: then the run was looked at before, and stayed.
func beside(in []byte, start, end int) bool {
	const tail = tokenHex + 2 // with the colon and the bracket
	if start >= tail && in[start-1] == '>' && in[start-tail] == ':' && hexOnly(string(in[start-tail+1:start-1])) {
		return true
	}
	for i := 0; i < 6 && end < len(in) && bytes.IndexByte([]byte("]\"'\\=: "), in[end]) >= 0; i++ {
		end++
	}
	rest := in[end:min(len(in), end+len(TokenOpen))]
	return len(rest) > 0 && bytes.HasPrefix([]byte(TokenOpen), rest)
}

// byLooks hides a run that is random in itself, unless what stands around says that it is public.
func byLooks(p place, start, end int) (hit, bool) {
	run, floor := start, max(p.floor-back, 0)
	// What leads to it, as in a path or an address, is not part of it.
	for i := start; i < end; {
		next := i
		for next < end && base64Class[p.in[next]]&(b64Lower|b64URL) != 0 {
			next++
		}
		if next == end || p.in[next] != '/' && p.in[next] != '.' || next-i > 0 && next-i < 3 && i > start {
			break
		}
		i = next + 1
		start = i
	}
	for start < end && base64Class[p.in[start]]&(b64Lower|b64Upper|b64Digit|b64Standard) == 0 && p.in[start] != '$' {
		start++
	}
	if !standsOut(p.in[start:end]) {
		return hit{}, false
	}
	for end < len(p.in) && p.in[end] == '=' {
		end++
	}
	if p.seen.isPublic(p.in, start, end, floor) || run < start && p.seen.isPublic(p.in, run, end, floor) || beside(p.in, run, end) {
		return hit{}, false
	}
	return hit{start: start, end: end, kind: "random", value: p.in[start:end], more: end == len(p.in) || end >= start+encodedMost}, true
}

// percent looks into a run of URL-encoded text and hides the part of it that is a secret once decoded.
func percent(p place) (hit, bool) {
	if p.deep || p.at < p.seen.percent {
		p.seen.free = true
		return hit{}, false
	}
	start, end := p.at, p.end
	for start > p.floor && p.at-start < encodedMost && isPercent(p.in[start-1]) {
		start--
	}
	for end < len(p.in) && end-p.at < encodedMost && isPercent(p.in[end]) {
		end++
	}
	raw := make([]byte, 0, end-start)
	from := make([]int, 0, end-start+1) // where each decoded byte came from
	for i := start; i < end; {
		from = append(from, i)
		switch c := p.in[i]; {
		case c == '%' && i+2 < end && isHexDigit(p.in[i+1]) && isHexDigit(p.in[i+2]):
			raw = append(raw, unhex(p.in[i+1])<<4|unhex(p.in[i+2]))
			i += 3
		case c == '+':
			raw = append(raw, ' ')
			i++
		default:
			raw = append(raw, c)
			i++
		}
	}
	from = append(from, end)
	p.seen.work += len(raw)
	h, ok := p.r.look(raw)
	if !ok {
		p.seen.percent = end
		return hit{}, false
	}
	out := hit{start: from[h.start], end: from[h.end], kind: h.kind, value: h.value}
	if h.kind == "dense-line" || len(h.value) == 0 {
		out.start, out.end, out.value = start, end, raw
	}
	out.more = out.end == len(p.in) || end >= p.at+encodedMost
	return out, true
}

func isPercent(c byte) bool {
	return isWord(c) || c == '%' || c == '+' || c == '-' || c == '.' || c == '~' || c == '*'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}
