package evidence

import "bytes"

const (
	holdMost  = 64 << 10 // the longest that an unfinished secret is waited for
	denseSpan = 4 << 10
	denseMost = 192 // places looked at in denseSpan; beyond it the line is one secret
)

// hit is a secret at [start, end) of the input.
type hit struct {
	start, end int
	kind       string
	value      []byte // what equal secrets have in common
	more       bool   // it runs to the end of the input and may go on
	forged     bool   // not a secret, but text that looks like one of our tokens
	skip       bool   // nothing to replace up to end
}

// place is where a rule looks.
type place struct {
	r     *redactor
	in    []byte
	at    int // where the literal starts
	end   int // where it ends
	floor int // what lies before was already written
	deep  bool
	b64   *int // how far base64 was already looked into
}

// line returns the rest of the line from i, at most 64 KiB.
func (p place) line(i int) []byte {
	rest := p.in[i:min(len(p.in), i+holdMost)]
	if nl := bytes.IndexByte(rest, '\n'); nl >= 0 {
		return rest[:nl]
	}
	return rest
}

// apply runs the rules over in. Secrets that start at or after limit are left for the next call. Unless final, a secret
// that could go on beyond in is left as well, as long as it is not too long. It returns how much of in is done, and
// whether the last secret was cut off for its length.
func (r *redactor) apply(dst, in []byte, limit int, final bool, n counts) (out []byte, done int, cutOff bool) {
	w := applier{redactor: r, dst: dst, in: in, n: n}
	cutOff = w.run(limit, final)
	return w.dst, w.done, cutOff
}

// found reports whether the rules find a secret in decoded bytes, and the kind and value of the first one.
func (r *redactor) found(in []byte) (hit, bool) {
	w := applier{redactor: r, in: in, deep: true}
	w.run(len(in), true)
	return w.first, w.first.kind != ""
}

type applier struct {
	*redactor
	dst, in []byte
	n       counts
	done    int // written so far
	lineOut int // where in dst the current line starts
	first   hit
	deep    bool
	b64     int

	spanStart, looks int
}

func (w *applier) run(limit int, final bool) bool {
	auto := w.rules.auto
	state := uint16(0)
	for i := 0; i < len(w.in); i++ {
		state = auto.next[state][w.in[i]]
		if len(auto.out[state]) == 0 {
			continue
		}
		for _, lit := range auto.out[state] {
			at := i + 1 - auto.lens[lit]
			if at < w.done || at >= limit {
				continue
			}
			if w.tooDense(at) {
				w.denseLine(at)
				i, state = w.done-1, 0
				break
			}
			h, ok := w.rules.match[lit](place{r: w.redactor, in: w.in, at: at, end: i + 1, floor: w.done, deep: w.deep, b64: &w.b64})
			if !ok {
				continue
			}
			if h.more && h.end < len(w.in) && h.kind != "private-key" {
				h.end += endOfWord(w.in[h.end:])
				h.more = h.end == len(w.in)
			}
			// What is held back begins with its line, since rules look at what stands before.
			if line := bytes.LastIndexByte(w.in[:h.start], '\n') + 1; h.more && !final && len(w.in)-max(line, w.done) < holdMost {
				w.copyTo(line)
				return false
			}
			w.replace(h)
			if h.more && !final && h.kind != "private-key" {
				return true
			}
			i, state = w.done-1, 0
			break
		}
	}
	if w.done < limit {
		w.copyTo(limit)
	}
	return false
}

// endOfWord is where an overlong value ends at the latest.
func endOfWord(in []byte) int {
	if i := bytes.IndexAny(in, " \t\r\n\"'"); i >= 0 {
		return i
	}
	return len(in)
}

func (w *applier) replace(h hit) {
	if h.skip {
		w.looks-- // our own tokens make no line dense
		w.copyTo(h.end)
		return
	}
	w.copyTo(h.start)
	if h.forged {
		w.dst = append(w.dst, forgedOpen...)
	} else {
		w.dst = w.token(w.dst, h.kind, h.value)
		w.n.add(h.kind)
		if w.first.kind == "" {
			w.first = h
		}
	}
	w.done = h.end
}

func (w *applier) copyTo(end int) {
	if end <= w.done {
		return
	}
	part := w.in[w.done:end]
	if nl := bytes.LastIndexByte(part, '\n'); nl >= 0 {
		w.lineOut = len(w.dst) + nl + 1
	}
	w.dst = append(w.dst, part...)
	w.done = end
}

func (w *applier) tooDense(at int) bool {
	if at-w.spanStart > denseSpan {
		w.spanStart, w.looks = at, 0
	}
	w.looks++
	return w.looks > denseMost
}

// denseLine makes the whole line one secret: that bounds the time a hostile line can take and hides odd dumps.
func (w *applier) denseLine(at int) {
	start := w.done
	if nl := bytes.LastIndexByte(w.in[w.done:at], '\n'); nl >= 0 {
		start += nl + 1
		w.copyTo(start)
	} else {
		w.dst = w.dst[:w.lineOut]
	}
	end := len(w.in)
	if nl := bytes.IndexByte(w.in[at:], '\n'); nl >= 0 {
		end = at + nl
	}
	w.dst = w.token(w.dst, "dense-line", w.in[start:end])
	w.n.add("dense-line")
	w.first.kind = "dense-line"
	w.done = end
	w.looks = 0
}
