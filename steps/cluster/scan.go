package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrJSON says that an answer is no JSON as far as it was looked into.
var ErrJSON = errors.New("it is not valid JSON")

// deepest bounds how far values nest; the parser of a stack of brackets from a
// stranger must not exhaust ours.
const deepest = 200

// Scanner walks JSON without building it. Pages of a list hold ten thousand rows
// of which a few cells matter: building every value took longer than the server
// did to send them.
type Scanner struct {
	b     []byte
	i     int
	depth int
}

// NewScanner walks b.
func NewScanner(b []byte) *Scanner { return &Scanner{b: b} }

func (s *Scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// next reports whether c comes next, and passes it.
func (s *Scanner) next(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// Value passes one value and returns its bytes.
func (s *Scanner) Value() ([]byte, error) {
	s.space()
	if s.i >= len(s.b) {
		return nil, ErrJSON
	}
	start := s.i
	var err error
	switch s.b[s.i] {
	case '"':
		err = s.text()
	case '{':
		err = s.Members(func([]byte) error { return s.Skip() })
	case '[':
		err = s.Elements(s.Skip)
	default:
		err = s.word()
	}
	return s.b[start:s.i], err
}

// text passes a string.
func (s *Scanner) text() error {
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			s.i++
		case c < ' ':
			return ErrJSON
		}
	}
	return ErrJSON
}

// word passes a number, true, false or null.
func (s *Scanner) word() error {
	start := s.i
	for s.i < len(s.b) && bytes.IndexByte([]byte(" \t\r\n,]}:\"[{"), s.b[s.i]) < 0 {
		s.i++
	}
	if !json.Valid(s.b[start:s.i]) {
		return ErrJSON
	}
	return nil
}

// Skip passes one value that is not needed.
func (s *Scanner) Skip() error {
	_, err := s.Value()
	return err
}

// Members calls each with every key of an object, without its quotes. each
// passes the value.
func (s *Scanner) Members(each func(key []byte) error) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for first := true; !s.next('}'); first = false {
		if !first && !s.next(',') {
			return ErrJSON
		}
		s.space()
		if s.i >= len(s.b) || s.b[s.i] != '"' {
			return ErrJSON
		}
		start := s.i
		if err := s.text(); err != nil {
			return err
		}
		key := s.b[start+1 : s.i-1]
		if !s.next(':') {
			return ErrJSON
		}
		if err := each(key); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

// Elements calls each at every element of an array. each passes the element.
func (s *Scanner) Elements(each func() error) error {
	if err := s.enter('['); err != nil {
		return err
	}
	for first := true; !s.next(']'); first = false {
		if !first && !s.next(',') {
			return ErrJSON
		}
		if err := each(); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

func (s *Scanner) enter(c byte) error {
	if s.depth++; s.depth > deepest {
		return fmt.Errorf("it nests more than %d deep", deepest)
	}
	if !s.next(c) {
		return ErrJSON
	}
	return nil
}

// end says that nothing but space is left.
func (s *Scanner) end() error {
	if s.space(); s.i != len(s.b) {
		return ErrJSON
	}
	return nil
}

// Null passes null where it stands for nothing.
func (s *Scanner) Null() bool {
	s.space()
	if !bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		return false
	}
	s.i += len("null")
	return true
}

// TextOf reads a JSON string; other values are no text.
func TextOf(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(b, '\\') < 0 && isASCII(b) {
		return string(b[1 : len(b)-1]), true
	}
	var s string
	err := json.Unmarshal(b, &s)
	return s, err == nil
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
