package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// errJSON says that an answer is no JSON as far as it was looked into.
var errJSON = errors.New("it is not valid JSON")

// deepest bounds how far values nest; the parser of a stack of brackets from a
// stranger must not exhaust ours.
const deepest = 200

// scan walks JSON without building it. Pages of a list hold ten thousand rows
// of which a few cells matter: building every value took longer than the server
// did to send them.
type scan struct {
	b     []byte
	i     int
	depth int
}

// newScan walks b.
func newScan(b []byte) *scan { return &scan{b: b} }

func (s *scan) space() {
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
func (s *scan) next(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// value passes one value and returns its bytes.
func (s *scan) value() ([]byte, error) {
	s.space()
	if s.i >= len(s.b) {
		return nil, errJSON
	}
	start := s.i
	var err error
	switch s.b[s.i] {
	case '"':
		err = s.text()
	case '{':
		err = s.members(func([]byte) error { return s.skip() })
	case '[':
		err = s.elements(s.skip)
	default:
		err = s.word()
	}
	return s.b[start:s.i], err
}

// text passes a string.
func (s *scan) text() error {
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			s.i++
		case c < ' ':
			return errJSON
		}
	}
	return errJSON
}

// word passes a number, true, false or null.
func (s *scan) word() error {
	start := s.i
	for s.i < len(s.b) && bytes.IndexByte([]byte(" \t\r\n,]}:\"[{"), s.b[s.i]) < 0 {
		s.i++
	}
	if !json.Valid(s.b[start:s.i]) {
		return errJSON
	}
	return nil
}

// skip passes one value that nobody asked for.
func (s *scan) skip() error {
	_, err := s.value()
	return err
}

// members calls each with every key of an object, without its quotes. each
// passes the value.
func (s *scan) members(each func(key []byte) error) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for first := true; !s.next('}'); first = false {
		if !first && !s.next(',') {
			return errJSON
		}
		s.space()
		if s.i >= len(s.b) || s.b[s.i] != '"' {
			return errJSON
		}
		start := s.i
		if err := s.text(); err != nil {
			return err
		}
		key := s.b[start+1 : s.i-1]
		if !s.next(':') {
			return errJSON
		}
		if err := each(key); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

// elements calls each at every element of an array. each passes the element.
func (s *scan) elements(each func() error) error {
	if err := s.enter('['); err != nil {
		return err
	}
	for first := true; !s.next(']'); first = false {
		if !first && !s.next(',') {
			return errJSON
		}
		if err := each(); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

func (s *scan) enter(c byte) error {
	if s.depth++; s.depth > deepest {
		return fmt.Errorf("it nests more than %d deep", deepest)
	}
	if !s.next(c) {
		return errJSON
	}
	return nil
}

// end says that nothing but space is left.
func (s *scan) end() error {
	if s.space(); s.i != len(s.b) {
		return errJSON
	}
	return nil
}

// null passes null where it stands for nothing.
func (s *scan) null() bool {
	s.space()
	if !bytes.HasPrefix(s.b[s.i:], []byte("null")) {
		return false
	}
	s.i += len("null")
	return true
}

// textOf reads a JSON string; other values are no text.
func textOf(b []byte) (string, bool) {
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
