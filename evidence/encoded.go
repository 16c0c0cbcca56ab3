package evidence

import (
	"bytes"
	"encoding/base64"
)

// encodedMost is how much of one encoded run is looked into at once.
const encodedMost = 64 << 10

// minRun is the shortest run of base64 that is looked into: sixteen bytes and two, since a prefix may touch it.
const minRun = 24

// nextRun finds the next run of at least minRun letters of base64 at or after from. It looks at every minRun-th byte first and
// so reads little of ordinary text.
func nextRun(in []byte, from int) (start, end int) {
	for i := from; i+minRun <= len(in); {
		j := i + minRun - 1
		for j >= i && base64Class[in[j]] != 0 {
			j--
		}
		if j >= i {
			i = j + 1
			continue
		}
		end = i + minRun
		for end < len(in) && end-i < encodedMost && base64Class[in[end]] != 0 {
			end++
		}
		return i, end
	}
	return len(in), len(in)
}

const (
	b64Lower = 1 << iota
	b64Upper
	b64Digit
	b64Standard // + and /
	b64URL      // - and _
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
		}
	}
	return t
}()

// encoded looks into the run of base64 at [start, end) and hides all of it when the decoded bytes hold a secret.
func encoded(p place, start, end int) (hit, bool) {
	var has uint8
	for _, c := range p.in[start:end] {
		has |= base64Class[c]
	}
	// Text in base64 has both cases and is of one alphabet; names, paths and digests are not.
	if has&(b64Lower|b64Upper) != b64Lower|b64Upper || has&(b64Standard|b64URL) == b64Standard|b64URL {
		return hit{}, false
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
		raw := make([]byte, enc.DecodedLen(len(part)))
		n, err := enc.Decode(raw, part)
		if err != nil {
			continue
		}
		raw = raw[:n]
		p.seen.work += len(raw) / 2
		if h, ok := p.r.look(raw); ok {
			for end < len(p.in) && p.in[end] == '=' {
				end++
			}
			v := bytes.TrimSpace(raw)
			if len(h.value) > 0 && h.end-h.start >= len(v) {
				v = h.value
			}
			return hit{start: start + skip, end: end, kind: h.kind, value: v, more: end == len(p.in) || end >= start+encodedMost}, true
		}
	}
	return hit{}, false
}

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '-' || c == '=' }

// percent looks into a run of URL-encoded text and hides the part of it that is a secret once decoded.
func percent(p place) (hit, bool) {
	if p.deep || p.at < p.seen.percent {
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
