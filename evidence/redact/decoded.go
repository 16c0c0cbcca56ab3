package redact

import (
	"bytes"

	"handrail/evidence/jsontree"
)

// wide looks into text of which every other byte is NUL, as UTF-16 has it, and hides the part of it that is a secret.
func wide(p place) (hit, bool) {
	p.seen.free = true
	if p.deep || p.at < p.seen.wide {
		return hit{}, false
	}
	start := p.at
	if start > p.floor && p.in[start-1] != 0 {
		start--
	}
	end := start
	var raw []byte
	var from []int
	nul := p.in[start] == 0
	for ; end < len(p.in) && end-start < encodedMost && (p.in[end] == 0) == nul; end++ {
		if !nul {
			raw, from = append(raw, p.in[end]), append(from, end)
		}
		nul = !nul
	}
	p.seen.wide = max(p.seen.wide, end)
	if len(raw) < minKnown {
		return hit{}, false
	}
	return p.behind(raw, append(from, end), &p.seen.wide)
}

// escaped looks into a string of JSON as it is without its escapes, and hides the part of it that is a secret then.
func escaped(p place) (hit, bool) {
	if p.deep || p.at < p.seen.escaped {
		p.seen.free = true
		return hit{}, false
	}
	start, end := p.at, p.end
	for start > p.floor && p.at-start < encodedMost && !ends(p.in, start-1) {
		start--
	}
	for end < len(p.in) && end-p.at < encodedMost && !ends(p.in, end) {
		end++
	}
	raw := make([]byte, 0, end-start)
	from := make([]int, 0, end-start+1)
	for i := start; i < end; {
		from = append(from, i)
		if p.in[i] != '\\' || i+1 >= end {
			raw = append(raw, p.in[i])
			i++
			continue
		}
		switch r, next, err := jsontree.ReadEscape(p.in[:end], i); {
		case err != nil:
			raw = append(raw, p.in[i])
			i++
		default:
			was := len(raw)
			raw = append(raw, string(r)...)
			for range len(raw) - was - 1 {
				from = append(from, i)
			}
			i = next
		}
	}
	p.seen.escaped = end
	return p.behind(raw, append(from, end), &p.seen.escaped)
}

// ends reports whether a string of JSON ends or begins at i.
func ends(in []byte, i int) bool {
	return in[i] == '\n' || in[i] == '"' && (i == 0 || in[i-1] != '\\')
}

// behind looks at decoded bytes, of which from says where each came from, and hides what is a secret. Without one, up to is where the
// next look begins; with one, the rest is looked at again.
func (p place) behind(raw []byte, from []int, upTo *int) (hit, bool) {
	p.seen.work += len(raw)
	h, ok := p.r.look(raw)
	if !ok {
		return hit{}, false
	}
	end := from[len(from)-1]
	out := hit{start: from[h.start], end: from[h.end], kind: h.kind, value: h.value}
	if h.kind == "dense-line" || len(h.value) == 0 || h.end <= h.start {
		out.start, out.end, out.value = from[0], end, bytes.Clone(raw)
	}
	if n, _ := p.r.tokenAt(p.in[out.start:]); n > 0 {
		return hit{}, false
	}
	*upTo = out.end
	out.more = out.end == len(p.in) || end >= p.at+encodedMost
	return out, true
}
