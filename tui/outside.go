package tui

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// text is text that cannot act on a terminal. Constants are texts; everything
// else becomes one through shown, block or say and nowhere else.
type text string

var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// block makes outside text of several lines harmless.
func block(s string) text {
	s = sgr.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r != '\n' && !unicode.IsGraphic(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return text(b.String())
}

// shown makes outside text harmless and puts it on one line.
func shown(s string) text {
	return text(strings.ReplaceAll(strings.TrimSpace(string(block(s))), "\n", " ⏎ "))
}

// say formats a line; what is filled in may come from outside.
func say(format string, args ...any) text { return shown(fmt.Sprintf(format, args...)) }
