package report

import (
	"bufio"
	"io"
	"regexp"
	"strings"

	"handrail/evidence/visible"
	"handrail/triage"
)

// Markdown writes the report of a folded state, without what only the journal and a verification know.
func Markdown(w io.Writer, st triage.State) error { return WriteMarkdown(w, New(st)) }

// WriteMarkdown writes one page in the dialect of GitHub. Text from outside cannot act as markup: it is escaped in
// sentences and cells, and stands behind a fence longer than any run of backticks inside where its lines matter.
func WriteMarkdown(w io.Writer, d Document) error {
	out := bufio.NewWriter(w) // keeps the first error for Flush
	for _, b := range Page(d) {
		b.markdown(out)
	}
	return out.Flush()
}

// openers are how a block begins.
var openers = map[BlockKind]string{TitleBlock: "# ", SectionBlock: "## ", HeadingBlock: "### ", QuoteBlock: "> ", ItemBlock: "- ", TaskBlock: "- [ ] "}

func (b Block) markdown(w *bufio.Writer) {
	line := func(parts ...string) { _, _ = w.WriteString(strings.Join(parts, "") + "\n") }
	switch b.Kind {
	case TableBlock:
		for i, cells := range b.Rows {
			out := make([]string, len(cells))
			for n, c := range cells {
				out[n] = md(c)
			}
			line("| ", strings.Join(out, " | "), " |")
			if i == 0 {
				line("|", strings.Repeat(" --- |", len(cells)))
			}
		}
	case FenceBlock:
		mark := fenceFor(b.Body)
		line(mark, b.Lang)
		line(string(b.Body))
		line(mark)
	default:
		line(openers[b.Kind], inline(b.Spans))
	}
}

// inline is a sentence with its marks.
func inline(spans []Span) string {
	var out strings.Builder
	strong := false
	mark := func(want bool) {
		if strong != want {
			out.WriteString("**")
			strong = want
		}
	}
	for _, s := range spans {
		mark(s.Strong)
		if s.Own {
			out.WriteString(string(s.Text))
		} else {
			out.WriteString(md(s.Text))
		}
	}
	mark(false)
	return out.String()
}

// fenceFor is a fence that the lines behind it cannot close.
func fenceFor(body visible.Text) string {
	ticks, run := 3, 0
	for _, r := range string(body) {
		if r != '`' {
			run = 0
		} else if run++; run >= ticks {
			ticks = run + 1
		}
	}
	return strings.Repeat("`", ticks)
}

// markup is what Markdown acts upon inside a line. A bare address or a www. would become a link.
var markup = strings.NewReplacer("\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_",
	"[", "\\[", "]", "\\]", "#", "\\#", "~", "\\~", "$", "\\$", "://", "\\://", "www.", "www\\.", "WWW.", "WWW\\.",
	"mailto:", "mailto\\:", "MAILTO:", "MAILTO\\:", "\n", "⏎")

// numbered is how an item of a numbered list begins.
var numbered = regexp.MustCompile(`^[0-9]+[.)](\s|$)`)

// md escapes a text for a sentence or a cell. At its start a list, a heading line or a code block could begin as well.
func md(t visible.Text) string {
	s := string(t)
	rest := strings.TrimLeft(s, " \u00a0")
	lead := strings.Repeat("&nbsp;", strings.Count(s, "")-strings.Count(rest, ""))
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	switch {
	case rest == "":
		return lead
	case strings.ContainsAny(rest[:1], "-+="):
		return lead + "\\" + rest[:1] + markup.Replace(rest[1:])
	case digits > 0 && numbered.MatchString(rest):
		return lead + rest[:digits] + "\\" + rest[digits:digits+1] + markup.Replace(rest[digits+1:])
	}
	return lead + markup.Replace(rest)
}
