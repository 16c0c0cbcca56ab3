package jsontree

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const lowerHex = "0123456789abcdef"

// AppendString writes s as a JSON string. What a terminal could act upon (controls, C1, bidi and other format
// characters, line separators) is escaped, so that a journal may be read with cat.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\r':
				dst = append(dst, '\\', 'r')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c == '\b':
				dst = append(dst, '\\', 'b')
			case c == '\f':
				dst = append(dst, '\\', 'f')
			case c < 0x20 || c == 0x7f:
				dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r) {
			if r > 0xffff {
				hi, lo := utf16.EncodeRune(r)
				dst = AppendEscape(AppendEscape(dst, hi), lo)
			} else {
				dst = AppendEscape(dst, r)
			}
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return append(dst, '"')
}

// AppendEscape writes r, of 16 bits, as \u and four digits.
func AppendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}

// AppendTo writes the value: compact when indent is negative, else two spaces a level.
func (n *Node) AppendTo(dst []byte, indent, level int) []byte {
	switch n.Kind {
	case Literal:
		return append(dst, n.Text...)
	case String:
		return AppendString(dst, n.Text)
	}
	open, closing := byte('{'), byte('}')
	if n.Kind == Array {
		open, closing = '[', ']'
	}
	dst = append(dst, open)
	for i, m := range n.Members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Newline(dst, indent, level+1)
		if n.Kind == Object {
			dst = append(AppendString(dst, m.Key), ':')
			if indent >= 0 {
				dst = append(dst, ' ')
			}
		}
		dst = m.Value.AppendTo(dst, indent, level+1)
	}
	if len(n.Members) > 0 {
		dst = Newline(dst, indent, level)
	}
	return append(dst, closing)
}

// Newline begins a line at a level, nothing when indent is negative.
func Newline(dst []byte, indent, level int) []byte {
	if indent < 0 {
		return dst
	}
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, ' ', ' ')
	}
	return dst
}
