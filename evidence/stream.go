package evidence

import (
	"bytes"
	"io"
)

const (
	window = 256 << 10
	// ahead is how much of an endless line must be seen behind a place before it is judged.
	ahead = 8 << 10
)

// textStream redacts a stream. It works on whole windows, so that the result does not depend on how the source was cut
// into writes.
type textStream struct {
	r       *redactor
	out     io.Writer
	n       counts
	raw     []byte // before known values were replaced
	mid     []byte // after
	res     []byte
	swallow bool // the rest of an overlong secret is being dropped
}

func (s *textStream) Write(p []byte) (int, error) {
	all := len(p)
	for len(p) > 0 {
		take := min(len(p), window-len(s.raw))
		s.raw = append(s.raw, p[:take]...)
		p = p[take:]
		if len(s.raw) == window {
			if err := s.flush(false); err != nil {
				return 0, err
			}
		}
	}
	return all, nil
}

func (s *textStream) finish() error { return s.flush(true) }

func (s *textStream) flush(final bool) error {
	known := s.r.knownValues()
	if known.longest > window/2 {
		// A value that long cannot be waited for; its lines are known on their own.
		final = true
	}
	var took int
	s.mid, took = known.replace(s.mid, s.raw, final, s.r, s.n)
	s.raw = append(s.raw[:0], s.raw[took:]...)
	for {
		done, err := s.pass(final)
		if err != nil || done == 0 || len(s.mid) < window && !final || len(s.mid) == 0 {
			return err
		}
	}
}

// pass redacts what of s.mid can be judged, and returns how much that was.
func (s *textStream) pass(final bool) (int, error) {
	skip := 0
	if s.swallow {
		skip = endOfWord(s.mid)
		s.swallow = skip == len(s.mid)
	}
	in := s.mid[skip:]
	limit := len(in)
	if !final {
		if nl := bytes.LastIndexByte(in, '\n'); nl >= 0 {
			in = in[:nl+1]
			limit = len(in)
		} else {
			limit = max(0, len(in)-ahead)
		}
	}
	var done int
	var cutOff bool
	s.res, done, cutOff = s.r.apply(s.res[:0], in, limit, final, s.n)
	s.swallow = s.swallow || cutOff
	_, err := s.out.Write(s.res)
	s.mid = append(s.mid[:0], s.mid[skip+done:]...)
	return skip + done, err
}
