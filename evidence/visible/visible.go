// Package visible makes outside text harmless to show. Everything that came from a log, a server, a file name or a
// person goes through it once before it reaches a screen, a report or a terminal title.
//
// Nothing is ever stripped but complete colour sequences (ESC [ digits ; m), which tools print all the time: a
// swallowed byte could hide evidence. What a terminal could act upon is written out as an escape instead:
//
//	\x1b     C0 controls and DEL; C1 controls, also when they come as single bytes
//	\u202e   Unicode format characters (bidi, zero width, tags), line separators, private use and unassigned runes
//	\u0301   marks that stand over or under what is not theirs: without a letter before them, or more than four on one,
//	         since enough of them climb over the lines around
//	\xff     bytes that are not UTF-8
//
// Newlines stay, CR LF becomes a newline, and tabs become spaces up to the next multiple of eight. The result holds
// only newlines and graphic runes, and making it visible again changes nothing.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is outside text made harmless. Only this package makes one from a string that is not a constant; the
// conversion visible.Text(s) of anything else is a mistake.
type Text string

// String returns the text for printing.
func (t Text) String() string { return string(t) }

const tab = 8

// String makes s harmless, newlines kept.
func String(s string) Text { return Text(text(s)) }

// Line makes s harmless and puts it on one line: a newline is shown as ⏎.
func Line(s string) Text { return Text(strings.ReplaceAll(text(s), "\n", "⏎")) }

func text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	column := 0
	var over Stack
	for i := 0; i < len(s); {
		if n := colour(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		loose := over.Loose(r)
		switch {
		case r == '\n' || r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
			if r == '\r' {
				n = 2
			}
			b.WriteByte('\n')
			column = 0
		case r == '\t':
			fill := tab - column%tab
			b.WriteString("        "[:fill])
			column += fill
		case r == utf8.RuneError && n == 1:
			column += escape(&b, 'x', rune(s[i]), 2)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			column += escape(&b, 'x', r, 2)
		case !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || filler(r) || loose:
			if r > 0xffff {
				column += escape(&b, 'U', r, 8)
			} else {
				column += escape(&b, 'u', r, 4)
			}
		default:
			b.WriteRune(r)
			column++
		}
		i += n
	}
	return b.String()
}

// plain is the common case of printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' {
			return false
		}
	}
	return true
}

// mostMarks is how many marks a letter bears in the scripts that need most.
const mostMarks = 4

// Stack counts the marks over one letter, in a text that is given rune by rune.
type Stack struct {
	base  bool // something that can bear marks came last
	marks int
}

// Loose reports whether r is a mark that has no letter of its own.
func (s *Stack) Loose(r rune) bool {
	if !unicode.In(r, unicode.Mn, unicode.Me) {
		s.base = r >= 0x80 && unicode.IsGraphic(r) && !unicode.IsSpace(r) && !filler(r) || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
		s.marks = 0
		return false
	}
	s.marks++
	return !s.base || s.marks > mostMarks
}

// filler are runes that count as letters or marks and still show as nothing.
func filler(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0x2800:
		return true
	}
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180f
}

// colour returns the length of a complete colour sequence at the start of s, or 0.
func colour(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func escape(b *strings.Builder, letter byte, r rune, digits int) int {
	b.WriteByte('\\')
	b.WriteByte(letter)
	for i := digits - 1; i >= 0; i-- {
		b.WriteByte("0123456789abcdef"[r>>(4*i)&15])
	}
	return digits + 2
}
