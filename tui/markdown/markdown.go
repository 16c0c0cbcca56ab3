// Package markdown lays out the Markdown of a report for a terminal: headings,
// tables that keep their columns, lists and emphasis, in a given width. It reads
// what session/report writes and no more; what it does not know is text.
//
// The layout is plain lines, each with what it is, so that one text can be
// searched, copied and drawn.
package markdown

import (
	"strings"

	"handrail/evidence/visible"
)

// Kind says what a line is.
type Kind int

// The kinds of lines.
const (
	Plain Kind = iota
	Title
	Section
	Strong // a sentence that the page stands on
	Head   // the names of columns
	Rule
	Code
)

// Line is a line of the layout.
type Line struct {
	Text visible.Text
	Kind Kind
	From int // the line of the source that it came from, counted from 0
}

// leastWidth keeps a layout from becoming a column of letters.
const leastWidth = 20

// Layout lays a document out in w cells. No line is wider.
func Layout(src string, w int) []Line {
	l := &layout{w: max(w, leastWidth), src: strings.Split(src, "\n")}
	for l.at < len(l.src) {
		l.block()
	}
	for len(l.out) > 0 && l.out[len(l.out)-1].Text == "" {
		l.out = l.out[:len(l.out)-1]
	}
	return l.out
}

type layout struct {
	w   int
	src []string
	at  int
	out []Line
}

func (l *layout) add(k Kind, from int, t visible.Text) {
	l.out = append(l.out, Line{t, k, from})
}

// gap leaves one empty line, never two and none at the top or below a rule.
func (l *layout) gap() {
	if n := len(l.out); n > 0 && l.out[n-1].Text != "" && l.out[n-1].Kind != Rule {
		l.add(Plain, l.at, "")
	}
}

// hang writes a text behind a lead, and its further lines below the text.
func (l *layout) hang(k Kind, from int, lead, t visible.Text) {
	indent := width(lead)
	for n, part := range fold(t, max(leastWidth/2, l.w-indent)) {
		if n > 0 {
			lead = spaces(indent)
		}
		l.add(k, from, lead+part)
	}
}

// block takes the next block of the source.
func (l *layout) block() {
	s, from := l.src[l.at], l.at
	switch {
	case strings.TrimSpace(s) == "":
		l.gap()
	case strings.HasPrefix(s, "```"):
		l.fence()
		return
	case strings.HasPrefix(s, "|"):
		l.table()
		return
	case strings.HasPrefix(s, "# "):
		l.hang(Title, from, "", inline(s[2:]))
		l.add(Rule, from, line("═", l.w))
	case strings.HasPrefix(s, "###"):
		l.gap()
		l.hang(Strong, from, "", inline(strings.TrimLeft(s, "# ")))
	case strings.HasPrefix(s, "#"):
		l.gap()
		l.hang(Section, from, "", inline(strings.TrimLeft(s, "# ")))
		l.add(Rule, from, line("─", l.w))
	case strings.HasPrefix(s, "- [ ] "):
		l.hang(Plain, from, "[ ] ", inline(s[6:]))
	case strings.HasPrefix(s, "- [x] "):
		l.hang(Plain, from, "[x] ", inline(s[6:]))
	case strings.HasPrefix(s, "- "):
		l.hang(Plain, from, "- ", inline(s[2:]))
	case strings.HasPrefix(s, "**"):
		l.hang(Strong, from, "", inline(s))
	default:
		l.hang(Plain, from, "", inline(s))
	}
	l.at++
}

// fence takes lines that stand as they are, up to the mark that opened them.
func (l *layout) fence() {
	mark := l.src[l.at][:len(l.src[l.at])-len(strings.TrimLeft(l.src[l.at], "`"))]
	for l.at++; l.at < len(l.src) && l.src[l.at] != mark; l.at++ {
		for _, part := range hard(visible.Line(l.src[l.at]), l.w-2) {
			l.add(Code, l.at, "  "+part)
		}
	}
	l.at++
}

// inline is a text without its marks: emphasis is taken away, escapes are what
// they stand for.
func inline(s string) visible.Text {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		rest := s[i:]
		if rest[0] == '\\' && len(rest) > 1 && rest[1] < 0x80 && !isWord(rest[1]) {
			b.WriteByte(rest[1])
			i++
			continue
		}
		if strings.HasPrefix(rest, "**") {
			i++
			continue
		}
		if name, ch := entity(rest); name != "" {
			b.WriteString(ch)
			i += len(name) - 1
			continue
		}
		b.WriteByte(rest[0])
	}
	return visible.Line(b.String())
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ' '
}

func entity(s string) (name, ch string) {
	for _, e := range [...][2]string{{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}} {
		if strings.HasPrefix(s, e[0]) {
			return e[0], e[1]
		}
	}
	return "", ""
}
