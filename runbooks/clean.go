package runbooks

import (
	"regexp"
	"sort"
	"strings"
	"unicode"

	"handrail/steps/joblog"
)

// The text of an error reaches us through terminals, CI logs and chat: with
// colours, box glyphs, carriage returns and time stamps, wrapped at 78 columns,
// or as one JSON line. Patterns see it without all that, twice: with its lines,
// and as one line with single spaces, in which wrapping does not matter.

var (
	escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
	glyphs  = regexp.MustCompile(`[╷│╵┃▏] ?`)
	stamps  = regexp.MustCompile(`(?m)^[ \t]*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]`)
	inJSON  = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`)
)

// cleaned strips what is of the terminal and not of the message.
func cleaned(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = escapes.ReplaceAllString(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if strings.Contains(s, `"@message"`) || strings.Contains(s, `"detail"`) {
		s = inJSON.Replace(s)
	}
	s = stamps.ReplaceAllString(s, "")
	return glyphs.ReplaceAllString(s, "")
}

// unframed is a text out of what stands before its lines, and where that takes
// anything away the text as it came behind it: no pattern loses what it had.
func unframed(s string) string {
	whole, lines := cleaned(s), cleaned(joblog.Unframe(s))
	if strings.TrimRight(whole, "\n") == strings.TrimRight(lines, "\n") {
		return whole
	}
	return lines + "\n" + whole
}

// collapsed is a text as one line with single spaces, which still knows where
// each word stood.
type collapsed struct {
	text  string
	at    []int // offset of each word in text
	lines []int // line of each word in the source
}

func collapse(s string) collapsed {
	var c collapsed
	var out strings.Builder
	n := 0
	for l := range strings.Lines(s) {
		for _, w := range strings.Fields(l) {
			if out.Len() > 0 {
				out.WriteByte(' ')
			}
			c.at = append(c.at, out.Len())
			c.lines = append(c.lines, n)
			out.WriteString(w)
		}
		n++
	}
	c.text = out.String()
	return c
}

// line returns the number of the line in which the text at offset stood.
func (c collapsed) line(offset int) int {
	i := sort.SearchInts(c.at, offset+1) - 1
	if i < 0 {
		return 0
	}
	return c.lines[i]
}
