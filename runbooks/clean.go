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
// or as JSON lines. Patterns see it without all that, twice: with its lines, and
// as one line with single spaces, in which wrapping does not matter. A pattern
// that speaks of line ends, as in [^\n], sees the lines alone.

var (
	escapes  = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
	glyphs   = regexp.MustCompile(`[╷│╵┃▏] ?`)
	stamps   = regexp.MustCompile(`(?m)^[ \t]*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]`)
	jsonLine = regexp.MustCompile(`(?m)^[^{\n]*\{\s*"[\w@.-]+"\s*:`)
	inJSON   = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`)
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
	if strings.Contains(s, `":`) && jsonLine.MatchString(s) {
		s = inJSON.Replace(s)
	}
	s = strings.ReplaceAll(s, `\"`, `"`) // a message that a log quotes
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

// maxCollapsed is how much of a text is read as one line: of a longer one the
// beginning and the end, since a wrapped error is at one of them.
const maxCollapsed = 1 << 20

func collapse(s string) collapsed {
	var c collapsed
	var out strings.Builder
	if len(s) > maxCollapsed {
		head, end := s[:maxCollapsed/4], len(s)-maxCollapsed*3/4
		c.add(&out, head, 0)
		c.add(&out, s[end:], strings.Count(s[:end], "\n"))
	} else {
		c.add(&out, s, 0)
	}
	c.text = out.String()
	return c
}

// add puts the words of a part behind what is there; n is the line it begins in.
func (c *collapsed) add(out *strings.Builder, part string, n int) {
	for l := range strings.Lines(part) {
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
}

// line returns the number of the line in which the text at offset stood.
func (c collapsed) line(offset int) int {
	i := sort.SearchInts(c.at, offset+1) - 1
	if i < 0 {
		return 0
	}
	return c.lines[i]
}
