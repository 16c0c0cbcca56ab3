package redact

import "bytes"

const (
	holdMost  = 64 << 10 // the longest that an unfinished secret is waited for
	denseSpan = 4 << 10
	denseMost = 192 // places looked at in denseSpan; beyond it the line is one secret
	// What rules may look at besides the one pass over the input, for nothing and for each byte passed; beyond it the line
	// is one secret as well.
	workFree = 256 << 10
	workEach = 2
)

// apply runs the rules over the whole of in.
func (r *Redactor) apply(dst, in []byte, n Counts) []byte {
	w := applier{Redactor: r, dst: dst, in: in, n: n}
	w.seen.lineEnd = -1
	w.run(len(in), true)
	return w.dst
}

// knownIn finds the first known value.
func (r *Redactor) knownIn(in []byte) (hit, bool) {
	set := r.knownValues()
	if len(set.bits) == 0 {
		return hit{}, false
	}
	for i := set.find(in, 0, len(in)); i < len(in); i = set.find(in, i+1, len(in)) {
		if f, ok := set.at(in[i:]); ok {
			return hit{start: i, end: i + len(f.form), kind: "known", value: bytes.TrimSpace([]byte(f.value))}, true
		}
	}
	return hit{}, false
}

// applier runs the rules over in, whose first done bytes were written before and are there to be looked back at.
type applier struct {
	*Redactor
	found   func(hit) // told of each secret; may be nil
	dst, in []byte
	n       Counts
	done    int // written so far
	lineOut int // where in dst the current line starts
	first   hit
	deep    bool
	shy     bool
	seen    looked

	spanStart, looks int
}

// what run should do after a place was judged.
type outcome int

const (
	goOn    outcome = iota // nothing there
	jump                   // w.done moved
	held                   // the rest waits for more input
	tooLong                // a secret was cut off for its length
)

// run leaves secrets that start at or after limit for the next call. Unless final, a secret that could go on beyond the input
// is left as well, as long as it is not too long. It reports whether the last secret was cut off for its length.
func (w *applier) run(limit int, final bool) bool {
	auto := w.rules.auto
	state := uint32(0)
	w.rows(final)
	runAt, runEnd := len(w.in), 0
	if !w.deep {
		runAt, runEnd = nextRun(w.in, w.done)
	}
	for i := w.done; ; i++ {
		lit := i
		if i, state = auto.find(w.in, lit, state); i == len(w.in) && runAt >= min(limit, len(w.in)) {
			break
		}
		at, next := len(w.in), goOn
		var ends []int32
		if i < len(w.in) {
			ends = auto.at(state)
			at = i + 1 - auto.lens[ends[0]]
		}
		// What stands first is judged first, so runs of base64 that begin before this literal come before it.
		for next == goOn && runAt < at && runAt < limit {
			if runAt >= w.done {
				h, ok := encoded(w.place(runAt, runEnd, final), runAt, runEnd)
				if ok {
					next = w.take(h, final)
				}
			}
			if next == goOn {
				runAt, runEnd = nextRun(w.in, max(runEnd, w.done))
			}
		}
		for _, lit := range ends {
			if next != goOn {
				break
			}
			at := i + 1 - auto.lens[lit]
			if at < w.done || at >= limit {
				continue
			}
			if w.tooDense(at) {
				w.denseLine(at)
				next = jump
				break
			}
			h, ok := w.rules.match[lit](w.place(at, i+1, final))
			if ok {
				next = w.take(h, final)
			}
			if w.seen.free {
				w.seen.free = false
				w.looks--
			}
		}
		switch next {
		case held:
			return false
		case tooLong:
			return true
		case jump:
			w.rows(final)
			i, state = w.done-1, 0
			if !w.deep && runAt < w.done {
				runAt, runEnd = nextRun(w.in, w.done)
			}
		case goOn:
			if i == len(w.in) {
				i-- // only runs were left; look again
			}
		}
	}
	if w.done < limit {
		w.copyTo(limit)
	}
	return false
}

func (w *applier) place(at, end int, final bool) place {
	return place{r: w.Redactor, in: w.in, at: at, end: end, floor: w.done, deep: w.deep, shy: w.shy, final: final, seen: &w.seen}
}

// take writes what was found, or holds it back.
func (w *applier) take(h hit, final bool) outcome {
	// What is held back begins with its line, since rules look at what stands before.
	line := max(bytes.LastIndexByte(w.in[:h.start], '\n')+1, w.done)
	room := !final && len(w.in)-line < holdMost
	if h.wait {
		switch {
		case room:
			w.copyTo(line)
			return held
		case h.skip:
			return goOn
		}
		h.more = false
	}
	if h.more && h.end < len(w.in) && h.kind != "private-key" {
		h.end += endOfWord(w.in[h.end:])
		h.more = h.end == len(w.in)
	}
	if h.more && room {
		w.copyTo(line)
		return held
	}
	w.replace(h)
	if h.more && !final && h.kind != "private-key" {
		return tooLong
	}
	return jump
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
	if w.found != nil && !h.forged {
		w.found(h)
	}
	if h.forged {
		w.dst = append(w.dst, forgedOpen...)
	} else if h.repl != nil {
		w.dst = append(w.dst, h.repl...)
		w.n.add(h.kind)
		if w.first.kind == "" {
			w.first = h
		}
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
	return w.looks > denseMost || w.seen.work > workFree+workEach*at
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
	if w.found != nil {
		w.found(hit{start: start, end: end, kind: "dense-line"})
	}
	w.dst = w.token(w.dst, "dense-line", w.in[start:end])
	w.n.add("dense-line")
	w.first.kind = "dense-line"
	w.done = end
	w.looks = 0
}

// hit is a secret at [start, end) of the input.
type hit struct {
	start, end int
	kind       string
	value      []byte // what equal secrets have in common
	more       bool   // it runs to the end of the input and may go on
	forged     bool   // not a secret, but text that looks like one of our tokens
	skip       bool   // nothing to replace up to end
	wait       bool   // it can be judged only when more of the input is seen
	repl       []byte // what stands for it instead of one token
}

// place is where a rule looks.
type place struct {
	r     *Redactor
	in    []byte
	at    int // where the literal starts
	end   int // where it ends
	floor int // what lies before was already written
	deep  bool
	layer int  // how many strings of JSON were undone around it
	shy   bool // what only looks like a secret stays
	final bool // nothing follows the input
	seen  *looked
}

// looked is what the places of one input share.
type looked struct {
	percent int // how far URL-encoded runs were already looked into
	lineEnd int // of the line that was asked for last
	lineCut bool
	work    int  // bytes looked at besides the one pass
	named   int  // where the name ends that was judged last
	wide    int  // how far UTF-16 was already looked into
	escaped int  // how far strings with escapes were already looked into
	free    bool // the place was looked at before and counts for nothing
	names   map[string]telling
	columns *columns // the table whose rows come next
	raw     []byte   // room for what a run of base64 decodes to
}

// line returns the rest of the line from i, at most 64 KiB.
func (p place) line(i int) []byte {
	if i >= len(p.in) {
		return nil
	}
	s := p.seen
	if i > s.lineEnd || s.lineCut && i+holdMost > s.lineEnd {
		rest := p.in[i:min(len(p.in), i+2*holdMost)]
		s.lineCut = len(rest) == 2*holdMost
		if nl := bytes.IndexByte(rest, '\n'); nl >= 0 {
			rest, s.lineCut = rest[:nl], false
		}
		s.lineEnd = i + len(rest)
	}
	return p.in[i:min(s.lineEnd, i+holdMost)]
}

// look reports whether the rules find a secret in decoded bytes, or a known value is there, and the kind and value of the first one.
func (r *Redactor) look(in []byte) (hit, bool) {
	if isWide(in) {
		in = bytes.ReplaceAll(in, []byte{0}, nil) // what stands in it is enough to hide all of it
		h, ok := r.look(in)
		h.start, h.end, h.value = 0, 0, nil
		return h, ok
	}
	w := applier{Redactor: r, in: in, deep: true}
	w.seen.lineEnd = -1
	w.run(len(in), true)
	if h, ok := r.knownIn(in); ok && (w.first.kind == "" || h.start <= w.first.start) {
		return h, true
	}
	return w.first, w.first.kind != ""
}

// nextRun finds the next run of at least minRun letters of base64, or of the marks that passwords have besides, at or after from. It
// looks at every minRun-th byte first and so reads little of ordinary text.
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
