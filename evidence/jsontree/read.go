package jsontree

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

const maxDepth = 256

var errDepth = fmt.Errorf("nested deeper than %d", maxDepth)

// Parse reads in as one value.
func Parse(in []byte, keys KeyRule) (*Node, error) {
	n, end, err := ReadValue(in, SkipSpace(in, 0), keys)
	if err != nil {
		return nil, err
	}
	if end = SkipSpace(in, end); end != len(in) {
		return nil, fmt.Errorf("byte %d: text after the value", end)
	}
	return n, nil
}

// ReadValue reads the value at pos and returns where it ends.
func ReadValue(in []byte, pos int, keys KeyRule) (*Node, int, error) {
	r := jsonReader{in: in, pos: pos, keys: keys}
	n, err := r.value(0)
	return n, r.pos, err
}

type jsonReader struct {
	in   []byte
	pos  int
	keys KeyRule
}

func (r *jsonReader) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	if r.pos >= len(r.in) {
		return nil, errors.New("value missing")
	}
	switch r.in[r.pos] {
	case '{':
		return r.container(depth, Object, '}')
	case '[':
		return r.container(depth, Array, ']')
	case '"':
		at := r.pos
		s, end, err := ReadString(r.in, at)
		r.pos = end
		return &Node{Kind: String, Text: s, At: at, End: end}, err
	}
	end := LiteralEnd(r.in, r.pos)
	if end == r.pos {
		return nil, fmt.Errorf("byte %d: no JSON value starts here", r.pos)
	}
	n := &Node{Kind: Literal, Text: string(r.in[r.pos:end]), At: r.pos, End: end}
	r.pos = end
	return n, nil
}

func (r *jsonReader) container(depth int, kind Kind, closing byte) (*Node, error) {
	n := &Node{Kind: kind}
	r.pos = SkipSpace(r.in, r.pos+1)
	var seen map[string]bool
	for {
		if r.at(closing) && len(n.Members) == 0 {
			r.pos++
			return n, nil
		}
		var m Member
		if kind == Object {
			if !r.at('"') {
				return nil, fmt.Errorf("byte %d: expected a key", r.pos)
			}
			var err error
			if m.Key, r.pos, err = ReadString(r.in, r.pos); err != nil {
				return nil, err
			}
			if r.keys == StrictKeys {
				// A map only pays once there are many keys.
				if len(n.Members) == 16 {
					seen = make(map[string]bool, 32)
					for _, o := range n.Members {
						seen[o.Key] = true
					}
				}
				if seen[m.Key] || seen == nil && n.Get(m.Key) != nil {
					return nil, fmt.Errorf("key %q is there twice", m.Key)
				}
				if seen != nil {
					seen[m.Key] = true
				}
			}
			r.pos = SkipSpace(r.in, r.pos)
			if !r.at(':') {
				return nil, fmt.Errorf("byte %d: expected a colon", r.pos)
			}
			r.pos = SkipSpace(r.in, r.pos+1)
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		m.Value = v
		n.Members = append(n.Members, m)
		r.pos = SkipSpace(r.in, r.pos)
		switch {
		case r.at(','):
			r.pos = SkipSpace(r.in, r.pos+1)
		case r.at(closing):
			r.pos++
			return n, nil
		default:
			return nil, fmt.Errorf("byte %d: expected a comma or %q", r.pos, closing)
		}
		if r.at(closing) {
			return nil, fmt.Errorf("byte %d: comma before %q", r.pos, closing)
		}
	}
}

func (r *jsonReader) at(c byte) bool { return r.pos < len(r.in) && r.in[r.pos] == c }

// SkipSpace returns where the blanks from i on end.
func SkipSpace(in []byte, pos int) int {
	for pos < len(in) && (in[pos] == ' ' || in[pos] == '\t' || in[pos] == '\n' || in[pos] == '\r') {
		pos++
	}
	return pos
}

// LiteralEnd returns where the number, true, false or null at pos ends, or pos when there is none.
func LiteralEnd(in []byte, pos int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(in)-pos >= len(word) && string(in[pos:pos+len(word)]) == word {
			return pos + len(word)
		}
	}
	digits := func(i int) int {
		for i < len(in) && in[i] >= '0' && in[i] <= '9' {
			i++
		}
		return i
	}
	i := pos
	if i < len(in) && in[i] == '-' {
		i++
	}
	end := digits(i)
	if end == i || in[i] == '0' && end > i+1 {
		return pos
	}
	if end < len(in) && in[end] == '.' {
		frac := digits(end + 1)
		if frac == end+1 {
			return pos
		}
		end = frac
	}
	if end < len(in) && (in[end] == 'e' || in[end] == 'E') {
		i = end + 1
		if i < len(in) && (in[i] == '+' || in[i] == '-') {
			i++
		}
		exp := digits(i)
		if exp == i {
			return pos
		}
		end = exp
	}
	return end
}

// ReadString decodes the string whose opening quote is at pos and returns where it ends.
// Invalid UTF-8 and lone surrogates become U+FFFD, as with encoding/json.
func ReadString(in []byte, pos int) (string, int, error) {
	if pos >= len(in) || in[pos] != '"' {
		return "", pos, fmt.Errorf("byte %d: expected a string", pos)
	}
	start := pos + 1
	i := start
	for i < len(in) && in[i] != '"' && in[i] != '\\' && in[i] >= 0x20 && in[i] < utf8.RuneSelf {
		i++
	}
	if i < len(in) && in[i] == '"' {
		return string(in[start:i]), i + 1, nil
	}
	out := append(make([]byte, 0, i-start+32), in[start:i]...)
	for i < len(in) {
		switch c := in[i]; {
		case c == '"':
			return string(out), i + 1, nil
		case c == '\\':
			r, next, err := ReadEscape(in, i)
			if err != nil {
				return "", i, err
			}
			out, i = utf8.AppendRune(out, r), next
		case c < 0x20:
			return "", i, fmt.Errorf("byte %d: control character in a string", i)
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(in[i:])
			out, i = utf8.AppendRune(out, r), i+n
		}
	}
	return "", i, errors.New("string without an end")
}

// ReadEscape reads the escape at i and returns where it ends.
func ReadEscape(in []byte, i int) (rune, int, error) {
	if i+1 >= len(in) {
		return 0, i, errors.New("string without an end")
	}
	if at := slices.Index([]byte(`"\/bfnrt`), in[i+1]); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), i + 2, nil
	}
	r, ok := hex4(in, i)
	if !ok {
		return 0, i, fmt.Errorf("byte %d: unknown escape", i)
	}
	if !utf16.IsSurrogate(r) {
		return r, i + 6, nil
	}
	if low, ok := hex4(in, i+6); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, i + 12, nil
		}
	}
	return utf8.RuneError, i + 6, nil
}

// hex4 reads `\uXXXX` at i.
func hex4(in []byte, i int) (rune, bool) {
	if i+6 > len(in) || in[i] != '\\' || in[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range in[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
