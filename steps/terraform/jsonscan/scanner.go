package jsonscan

import (
	"errors"
	"fmt"
	"io"
)

// Deepest is how deep values may lie in each other, as in encoding/json.
const Deepest = 10000

// maxKey bounds the part of a key that is kept.
const maxKey = 1024

// SyntaxError says where a document stops being JSON. Near holds the bytes that
// follow, as far as they were read; Ended says that the document ends too soon.
type SyntaxError struct {
	Offset int64
	Say    string
	Near   []byte
	Ended  bool
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Say, e.Offset) }

// Scanner reads one document. It is not safe for two goroutines.
type Scanner struct {
	r       io.Reader
	buf     []byte
	pos     int
	end     int
	base    int64 // offset of buf[0]
	readErr error
	tap     func([]byte)
	tapFrom int
	depth   int
	stack   []bool // of Skip: true for an object
	text    []byte
}

// New returns a Scanner of r.
func New(r io.Reader) *Scanner { return &Scanner{r: r, buf: make([]byte, 64<<10)} }

// Offset is the number of bytes that were consumed.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Peek returns up to n bytes from the start without consuming them. It may be
// called only before anything else.
func (s *Scanner) Peek(n int) []byte {
	for idle := 0; s.end < n && s.readErr == nil && idle < 100; {
		m, err := s.r.Read(s.buf[s.end:])
		s.end += m
		s.readErr = err
		if m == 0 {
			idle++
		}
	}
	return s.buf[:min(n, s.end)]
}

// Tap gives every byte that is consumed from here to f, in order, until Untap.
// f must not keep the slice.
func (s *Scanner) Tap(f func([]byte)) { s.tap, s.tapFrom = f, s.pos }

// Untap ends a Tap.
func (s *Scanner) Untap() {
	if s.tap != nil {
		s.tap(s.buf[s.tapFrom:s.pos])
		s.tap = nil
	}
}

// fill reads more when all of the window was consumed; false at the end.
func (s *Scanner) fill() bool {
	if s.tap != nil {
		s.tap(s.buf[s.tapFrom:s.pos])
		s.tapFrom = 0
	}
	s.base += int64(s.pos)
	s.pos, s.end = 0, 0
	for idle := 0; s.readErr == nil; idle++ {
		n, err := s.r.Read(s.buf)
		s.readErr = err
		if n > 0 {
			s.end = n
			return true
		}
		if err == nil && idle == 100 {
			s.readErr = io.ErrNoProgress
		}
	}
	return false
}

// more makes sure that one byte can be looked at.
func (s *Scanner) more() bool { return s.pos < s.end || s.fill() }

// fail is the error of a byte that does not fit, of a source that failed, or of
// an end that comes too soon.
func (s *Scanner) fail(what string) error {
	if s.more() {
		near := append([]byte(nil), s.buf[s.pos:min(s.end, s.pos+64)]...)
		return &SyntaxError{Offset: s.Offset(), Say: what, Near: near}
	}
	if !errors.Is(s.readErr, io.EOF) {
		return s.readErr
	}
	return &SyntaxError{Offset: s.Offset(), Say: "the document ends too soon", Ended: true}
}

// next returns the next byte that is not white space, without consuming it.
func (s *Scanner) next() (byte, error) {
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\t', '\r':
				s.pos++
			default:
				return c, nil
			}
		}
		if !s.fill() {
			return 0, s.fail("")
		}
	}
}

func (s *Scanner) expect(c byte, what string) error {
	got, err := s.next()
	if err != nil {
		return err
	}
	if got != c {
		return s.fail(what)
	}
	s.pos++
	return nil
}

// Kind tells what value comes next: '{', '[', '"', '0' for a number, 't' for
// true or false, 'n' for null.
func (s *Scanner) Kind() (byte, error) {
	c, err := s.next()
	switch {
	case err != nil:
		return 0, err
	case c == '-' || '0' <= c && c <= '9':
		return '0', nil
	case c == 't' || c == 'f':
		return 't', nil
	case c == '{' || c == '[' || c == '"' || c == 'n':
		return c, nil
	}
	return 0, s.fail("no value starts here")
}

// End says whether nothing but white space follows.
func (s *Scanner) End() error {
	_, err := s.next()
	var syntax *SyntaxError
	if errors.As(err, &syntax) && syntax.Ended {
		return nil
	}
	if err != nil {
		return err
	}
	return s.fail("something follows the document")
}

func endOf(err error) bool { return errors.Is(err, io.EOF) }
