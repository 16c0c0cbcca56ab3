package redact

import (
	"bytes"
	"io"
)

const (
	window = 256 << 10
	// ahead is how much must be seen behind a place before it is judged, and back what stays to be looked back at.
	ahead = 8 << 10
	back  = 4 << 10
)

// textStream redacts a stream. It works on whole windows, so that the result does not depend on how the source was cut
// into writes.
type textStream struct {
	r       *Redactor
	out     io.Writer
	n       Counts
	raw     []byte // before known values were replaced
	mid     []byte // after
	res     []byte
	swallow bool // the rest of an overlong secret is being dropped
	size    int  // of a window
	ahead   int
	bare    bool // known values are hidden elsewhere
	found   func(kind string, at int64)
	base    int64 // bytes before mid
	old     int   // how much of mid was written and is only looked back at
	names   map[string]telling
	columns *columns // the table that the next window begins in
}

func (s *textStream) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		take := min(len(p), s.size-len(s.raw))
		s.raw = append(s.raw, p[:take]...)
		p = p[take:]
		if len(s.raw) == s.size {
			if err := s.flush(false); err != nil {
				return 0, err
			}
		}
	}
	return all, nil
}

func (s *textStream) finish() error {
	if err := s.flush(true); err != nil {
		return err
	}
	if last, ok := s.out.(*lineRecall); ok {
		return last.finish()
	}
	return nil
}

func (s *textStream) flush(final bool) error {
	known := s.r.knownValues()
	if s.bare {
		known = &knownSet{}
	}
	whole := final || known.longest > window/2 // a value that long cannot be waited for; its lines are known on their own
	var took int
	s.mid, took = known.replace(s.mid, s.raw, whole, s.r, s.n)
	s.raw = append(s.raw[:0], s.raw[took:]...)
	for {
		done, err := s.pass(final)
		left := len(s.mid) - s.old
		if err != nil || done == 0 || left == 0 || left < s.size && !final {
			return err
		}
	}
}

// pass redacts what of s.mid can be judged, and returns how much that was.
func (s *textStream) pass(final bool) (int, error) {
	from := s.old
	if s.swallow {
		from += endOfWord(s.mid[from:])
		s.swallow = from == len(s.mid)
	}
	in, limit := s.mid, len(s.mid)
	if !final {
		limit = max(from, limit-s.ahead)
		// Lines are judged whole where they end at all.
		if nl := bytes.LastIndexByte(in[from:], '\n'); nl >= 0 {
			in = in[:from+nl+1]
			if nl = bytes.LastIndexByte(in[from:min(limit, len(in))], '\n'); nl >= 0 {
				limit = from + nl + 1
			} else if len(in)-from < holdMost {
				limit = from
			}
		}
	}
	limit = min(limit, len(in))
	upTo, cutOff := from, false
	s.res = s.res[:0]
	if limit > from || final {
		w := applier{Redactor: s.r, dst: s.res, in: in, done: from, n: s.n}
		if s.found != nil {
			w.found = func(h hit) { s.found(h.kind, s.base+int64(h.start)) }
		}
		if s.names == nil {
			s.names = map[string]telling{}
		}
		w.seen.lineEnd, w.seen.columns, w.seen.names = -1, s.columns, s.names
		cutOff = w.run(limit, final)
		s.res, upTo, s.columns = w.dst, w.done, w.seen.columns
	}
	s.swallow = s.swallow || cutOff
	_, err := s.out.Write(s.res)
	done := upTo - s.old
	keep := max(0, upTo-back)
	s.mid = append(s.mid[:0], s.mid[keep:]...)
	s.base += int64(keep)
	s.old = upTo - keep
	return done, err
}
