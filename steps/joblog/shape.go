package joblog

import (
	"strings"
	"unicode/utf8"
)

// A shape is a prefix with its numbers, months, days, levels and streams left
// open. It begins with what it begins with, and ends where the text begins.
type shape struct{ parts []part }

type part struct {
	kind byte
	text string // of what must be the same
}

const (
	same   = byte(0)
	number = byte('0') // digits, with a fraction
	word   = byte('w') // month, day, level or stream
	blank  = byte(' ') // one blank or more
	end    = byte('$') // exactly these blanks, at the end
)

// openWords are the words of a prefix that change from line to line.
var openWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun
		trace debug info notice warn warning error err fatal stdout stderr out am pm o e`) {
		m[w] = true
	}
	return m
}()

// shapeOf is the shape of a prefix.
func shapeOf(prefix string) shape {
	var s shape
	body := strings.TrimRight(prefix, " \t")
	for rest := body; rest != ""; {
		kind, n := next(rest)
		p := part{kind: kind}
		if kind == same {
			p.text = rest[:n]
		}
		s.parts = append(s.parts, p)
		rest = rest[n:]
	}
	if body != prefix {
		s.parts = append(s.parts, part{end, prefix[len(body):]})
	}
	return s
}

// next cuts the first part off a prefix.
func next(s string) (kind byte, n int) {
	c := s[0]
	switch {
	case digit(c):
		return number, digits(s)
	case c == ' ' || c == '\t':
		n = 1
		for n < len(s) && s[n] == c {
			n++
		}
		if c == '\t' {
			return same, n
		}
		return blank, n
	case letter(c):
		n = letters(s)
		if openWords[strings.ToLower(s[:n])] {
			return word, n
		}
		return same, n
	}
	_, n = utf8.DecodeRuneInString(s)
	return same, n
}

// match returns how much of line the shape takes, -1 where it does not fit.
func (s shape) match(line string) int {
	at := 0
	for i, p := range s.parts {
		rest := line[at:]
		switch p.kind {
		case number:
			if rest == "" || !digit(rest[0]) {
				return -1
			}
			at += digits(rest)
		case word:
			n := letters(rest)
			if n == 0 || !openWords[strings.ToLower(rest[:n])] {
				return -1
			}
			at += n
		case blank:
			n := len(rest) - len(strings.TrimLeft(rest, " "))
			if n == 0 {
				return -1
			}
			at += n
		case end:
			if strings.HasPrefix(rest, p.text) {
				return at + len(p.text)
			}
			if i > 0 && strings.TrimRight(rest, " \t") == "" { // an empty line, trimmed
				return len(line)
			}
			return -1
		default:
			if !strings.HasPrefix(rest, p.text) {
				return -1
			}
			at += len(p.text)
		}
	}
	return at
}

// key names a shape.
func (s shape) key() string {
	var b strings.Builder
	for _, p := range s.parts {
		b.WriteByte(p.kind)
		b.WriteString(p.text)
		b.WriteByte(1)
	}
	return b.String()
}

// stamped reports whether a shape looks like what a machine puts before a line:
// with the time of a day, a column or a bracket.
func (s shape) stamped() bool {
	numbers := 0
	for i, p := range s.parts {
		if p.kind == number {
			numbers++
		}
		if p.kind == same && (strings.ContainsAny(p.text, "\t|") || p.text == "[" && i == 0) {
			return true
		}
	}
	return numbers >= 3
}

// stream is what a prefix says but for times, levels and streams: two lines of
// which it differs come from two sources.
func stream(prefix string) string {
	var out []string
	for _, w := range strings.FieldsFunc(prefix, func(r rune) bool { return strings.ContainsRune(" \t|=\"<>", r) }) {
		w = strings.Trim(w, "[]()")
		if !strings.ContainsFunc(w, func(r rune) bool { return !strings.ContainsRune("0123456789-:.,TZOEF+", r) }) || openWords[strings.ToLower(strings.TrimRight(w, ":"))] {
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func letters(s string) int {
	n := 0
	for n < len(s) && letter(s[n]) {
		n++
	}
	return n
}

// digits is the length of the number that s begins with, with its fraction.
func digits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	if n+1 < len(s) && (s[n] == '.' || s[n] == ',') && digit(s[n+1]) {
		n++
		for n < len(s) && digit(s[n]) {
			n++
		}
	}
	return n
}
