package references

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// leastCoded is how long a name must be to be looked for in Base64, where its ends are lost.
const leastCoded = 12

// name is one name of the server, in the forms in which it is looked for.
type name struct {
	text  string // lower case, without a dot at its end
	host  bool   // a host name, and not the identifier alone
	plain []byte
	wide  []byte   // UTF-16, little endian
	coded [][]byte // what Base64 makes of it wherever it begins, case as written
}

func nameOf(text string, host bool) name {
	n := name{text: strings.ToLower(strings.TrimSuffix(text, ".")), host: host}
	n.plain = []byte(n.text)
	for _, c := range n.plain {
		n.wide = append(n.wide, c, 0)
	}
	if len(n.plain) < leastCoded {
		return n
	}
	for skip := range 3 {
		// The characters that share bits with what stands before and after are left out.
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, skip), n.plain...))
		from, upto := (skip*8+5)/6, (skip+len(n.plain))*8/6
		n.coded = append(n.coded, []byte(code[from:upto]))
	}
	return n
}

// within reports whether the character belongs to a longer name.
func within(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}

// in are the places at which a name stands in a text; lower is the text in lower case.
func (n name) in(text, lower []byte) (at []int) {
	for from := 0; ; {
		i := bytes.Index(lower[from:], n.plain)
		if i < 0 {
			break
		}
		i += from
		if end := i + len(n.plain); (i == 0 || !within(lower[i-1])) && (end == len(lower) || !within(lower[end])) {
			at = append(at, i)
		}
		from = i + 1
	}
	for _, form := range append(slices.Clone(n.coded), n.wide) {
		in := text
		if len(form) == len(n.wide) && len(form) > 1 && form[1] == 0 {
			in = lower
		}
		for from := 0; len(form) > 0; {
			i := bytes.Index(in[from:], form)
			if i < 0 {
				break
			}
			at = append(at, from+i)
			from += i + len(form)
		}
	}
	return at
}

// lowered is a text in lower case, byte by byte, so that places in both are the same.
func lowered(text []byte) []byte {
	out := make([]byte, len(text))
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// match is one line that has a name.
type match struct {
	line int // from 1
	name string
	host bool
}

// matches are the lines of a text with a name in them, one a line: a host name before an identifier.
func matches(names []name, text []byte) (out []match) {
	lower := lowered(text)
	type spot struct {
		at int
		of name
	}
	var spots []spot
	for _, n := range names {
		for _, at := range n.in(text, lower) {
			spots = append(spots, spot{at, n})
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return a.at - b.at })
	line, upto := 1, 0
	for _, s := range spots {
		line += bytes.Count(text[upto:s.at], []byte("\n"))
		upto = s.at
		if n := len(out); n > 0 && out[n-1].line == line {
			if s.of.host && !out[n-1].host {
				out[n-1] = match{line, s.of.text, true}
			}
			continue
		}
		out = append(out, match{line, s.of.text, s.of.host})
	}
	return out
}
