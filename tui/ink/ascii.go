package ink

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// drawnIn are the signs of ours that a terminal without Unicode cannot show, each
// with one of ASCII that is as wide.
var drawnIn = map[string]string{
	"✓": "+", "✗": "x", "●": "*", "○": "o", "▸": ">", "·": ".", "–": "-", "—": "-", "…": "~", "×": "x", "⚠": "!",
	"─": "-", "━": "=", "│": "|", "═": "=", "║": "|", "╔": "+", "╗": "+", "╚": "+", "╝": "+", "▏": "|",
	"┌": ".", "┬": ".", "├": "+", "└": "'", "┼": "+", "┴": "+", "▶": ">",
	"↑": "^", "↓": "v", "←": "<", "→": ">", "“": `"`, "”": `"`, "’": "'", "≠": "#", "█": "#", "░": ".", "▲": "^", "▼": "v",
}

// InASCII writes a screen in ASCII: our own signs by one that is as wide, and
// every other letter by question marks of its width. Sequences of ours stay.
func InASCII(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	var state byte
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		state = next
		s = s[n:]
		switch sign, ours := drawnIn[seq]; {
		case ours:
			out.WriteString(sign)
		case width > 0 && !IsASCII(seq):
			out.WriteString(strings.Repeat("?", width))
		default:
			out.WriteString(seq)
		}
	}
	return out.String()
}

// IsASCII says that every byte of s is ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
