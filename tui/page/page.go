// Package page lays out the page of a report for a terminal: headings, tables that
// keep their columns, lists and what stands as it is, in a given width. A page is the
// blocks that session/report makes of a document; Markdown is another drawing of the
// same blocks.
//
// The layout is plain lines, each with what it is, so that one text can be
// searched, copied and drawn.
package page

import (
	"strings"

	"handrail/evidence/visible"
	"handrail/session/report"
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
	From int // the piece of the page that it came from, counted from 0, which no width changes
}

// leastWidth keeps a layout from becoming a column of letters.
const leastWidth = 20

// Layout lays a page out in w cells. No line is wider.
func Layout(blocks []report.Block, w int) []Line {
	l := &layout{w: max(w, leastWidth)}
	for _, b := range blocks {
		l.block(b)
		l.at++
	}
	for len(l.out) > 0 && l.out[len(l.out)-1].Text == "" {
		l.out = l.out[:len(l.out)-1]
	}
	return l.out
}

type layout struct {
	w   int
	at  int // the piece that is laid out: a block, a row or a line of one
	out []Line
}

func (l *layout) add(k Kind, t visible.Text) {
	l.out = append(l.out, Line{t, k, l.at})
}

// gap leaves one empty line, never two and none at the top or below a rule.
func (l *layout) gap() {
	if n := len(l.out); n > 0 && l.out[n-1].Text != "" && l.out[n-1].Kind != Rule {
		l.add(Plain, "")
	}
}

// hang writes a text behind a lead, and its further lines below the text.
func (l *layout) hang(k Kind, lead, t visible.Text) {
	indent := width(lead)
	for n, part := range fold(t, max(leastWidth/2, l.w-indent)) {
		if n > 0 {
			lead = spaces(indent)
		}
		l.add(k, lead+part)
	}
}

func (l *layout) block(b report.Block) {
	switch b.Kind {
	case report.GapBlock:
		l.gap()
	case report.FenceBlock:
		l.fence(b.Body)
	case report.TableBlock:
		l.table(b.Rows)
	case report.TitleBlock:
		l.hang(Title, "", sentence(b.Spans))
		l.add(Rule, line("═", l.w))
	case report.HeadingBlock:
		l.gap()
		l.hang(Strong, "", sentence(b.Spans))
	case report.SectionBlock:
		l.gap()
		l.hang(Section, "", sentence(b.Spans))
		l.add(Rule, line("─", l.w))
	case report.TaskBlock:
		l.hang(Plain, "[ ] ", sentence(b.Spans))
	case report.ItemBlock:
		l.hang(Plain, "- ", sentence(b.Spans))
	case report.QuoteBlock:
		l.hang(Plain, "", "> "+sentence(b.Spans))
	default:
		k := Plain
		if len(b.Spans) > 0 && b.Spans[0].Strong {
			k = Strong
		}
		l.hang(k, "", sentence(b.Spans))
	}
}

// fence takes lines as they stand.
func (l *layout) fence(body visible.Text) {
	for s := range strings.SplitSeq(string(body), "\n") {
		for _, part := range hard(visible.Text(s), l.w-2) {
			l.add(Code, "  "+part)
		}
		l.at++
	}
}

// sentence is what spans say, on one line.
func sentence(spans []report.Span) visible.Text {
	var out visible.Text
	for _, s := range spans {
		out += s.Text
	}
	return flat(out)
}

// flat is a text on one line, which a visible one need not be.
func flat(t visible.Text) visible.Text {
	return visible.Text(strings.ReplaceAll(string(t), "\n", "⏎"))
}
