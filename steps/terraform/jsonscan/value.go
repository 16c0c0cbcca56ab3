package jsonscan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string, and keeps its first limit bytes; cut says that there were
// more. What is no UTF-8 becomes the replacement character.
func (s *Scanner) Text(limit int) (text string, cut bool, err error) {
	if err := s.expect('"', "a string should be here"); err != nil {
		return "", false, err
	}
	s.text = s.text[:0]
	keep := func(b []byte) {
		room := max(0, limit-len(s.text))
		cut = cut || len(b) > room
		s.text = append(s.text, b[:min(len(b), room)]...)
	}
	high := rune(0) // first half of a surrogate pair
	for {
		b := s.buf[s.pos:s.end]
		i := 0
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
			i++
		}
		if i > 0 || i < len(b) && b[i] != '\\' {
			high = flush(high, keep)
		}
		keep(b[:i])
		s.pos += i
		if i == len(b) {
			if !s.fill() {
				return "", false, s.fail("")
			}
			continue
		}
		switch b[i] {
		case '"':
			s.pos++
			return toUTF8(s.text), cut, nil
		case '\\':
			s.pos++
			u, err := s.escape()
			if err != nil {
				return "", false, err
			}
			high = unit(u, high, keep)
		default:
			return "", false, s.fail("a control character stands in a string")
		}
	}
}

// unit takes one code unit of an escape, and returns the half that still waits.
func unit(u, high rune, keep func([]byte)) rune {
	if high != 0 {
		if r := utf16.DecodeRune(high, u); r != utf8.RuneError {
			keep(utf8.AppendRune(nil, r))
			return 0
		}
		flush(high, keep)
	}
	if utf16.IsSurrogate(u) && u < 0xdc00 {
		return u
	}
	keep(utf8.AppendRune(nil, u))
	return 0
}

func flush(high rune, keep func([]byte)) rune {
	if high != 0 {
		keep(utf8.AppendRune(nil, utf8.RuneError))
	}
	return 0
}

// toUTF8 replaces each byte that is no UTF-8, as encoding/json does.
func toUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// TextOr is Text that skips any other value; ok says whether it was a string.
func (s *Scanner) TextOr(limit int) (text string, ok bool, err error) {
	k, err := s.Kind()
	if err != nil {
		return "", false, err
	}
	if k != '"' {
		return "", false, s.Skip()
	}
	text, _, err = s.Text(limit)
	return text, err == nil, err
}

// Number reads a number as it is written, up to 64 bytes of it.
func (s *Scanner) Number() (string, error) {
	k, err := s.Kind()
	if err != nil {
		return "", err
	}
	if k != '0' {
		return "", s.fail("a number should be here")
	}
	digits := make([]byte, 0, 20)
	err = s.number(&digits)
	return string(digits), err
}

// Int reads a whole number; ok is false for any other value, which is skipped.
func (s *Scanner) Int() (n int64, ok bool, err error) {
	k, err := s.Kind()
	if err != nil {
		return 0, false, err
	}
	if k != '0' {
		return 0, false, s.Skip()
	}
	text, err := s.Number()
	if err != nil {
		return 0, false, err
	}
	n, bad := strconv.ParseInt(text, 10, 64)
	return n, bad == nil, nil
}

// Bool reads true or false; any other value is skipped and is false.
func (s *Scanner) Bool() (bool, error) {
	k, err := s.Kind()
	if err != nil {
		return false, err
	}
	yes := k == 't' && s.buf[s.pos] == 't'
	return yes, s.Skip()
}
