package report

import (
	"fmt"
	"strings"

	"handrail/evidence/visible"
)

// Block is a part of the report as a page: [Page] puts them one below the other, and Markdown and the screen draw
// each in its own way.
type Block struct {
	Kind  BlockKind
	Spans []Span           // what it says; nothing for a table, a fence and a gap
	Rows  [][]visible.Text // of a table; the first one names the columns
	Lang  string           // of a fence: what its lines are
	Body  visible.Text     // of a fence: lines, which stand as they are
}

// BlockKind says what a block is.
type BlockKind int

// The kinds of blocks.
const (
	GapBlock BlockKind = iota // an empty line
	TitleBlock
	SectionBlock
	HeadingBlock
	TextBlock
	QuoteBlock
	ItemBlock
	TaskBlock // an item that is left to do
	TableBlock
	FenceBlock
)

// Span is a piece of a sentence.
type Span struct {
	Text   visible.Text
	Strong bool
	Own    bool // the report's own words, which hold no markup
}

type page struct{ blocks []Block }

func (p *page) add(k BlockKind, spans ...Span) {
	p.blocks = append(p.blocks, Block{Kind: k, Spans: spans})
}

func (p *page) gap() { p.add(GapBlock) }

func (p *page) text(format string, args ...any) { p.add(TextBlock, spans(format, args...)...) }

// section opens a section.
func (p *page) section(title string) {
	p.gap()
	p.add(SectionBlock, spans(title)...)
	p.gap()
}

// heading opens a part of a section.
func (p *page) heading(format string, args ...any) {
	p.add(HeadingBlock, spans(format, args...)...)
	p.gap()
}

// item writes one line of a list, where there is something to write.
func (p *page) item(label any, t visible.Text) {
	if t != "" {
		p.add(ItemBlock, spans("%s: %s", label, t)...)
	}
}

// table begins a table with these columns.
func (p *page) table(heads ...visible.Text) {
	p.blocks = append(p.blocks, Block{Kind: TableBlock, Rows: [][]visible.Text{heads}})
}

// row writes a line of the table that was begun last.
func (p *page) row(cells ...visible.Text) {
	t := &p.blocks[len(p.blocks)-1]
	t.Rows = append(t.Rows, cells)
}

// fence writes lines as they are.
func (p *page) fence(lang string, body visible.Text) {
	p.gap()
	p.blocks = append(p.blocks, Block{Kind: FenceBlock, Lang: lang, Body: body})
	p.gap()
}

// spans are a sentence: what stands between ** is strong, and an argument that is a visible.Text comes from outside.
func spans(format string, args ...any) []Span {
	var out []Span
	strong := false
	own := func(text string) {
		for i, part := range strings.Split(text, "**") {
			if strong = strong != (i > 0); part != "" {
				out = append(out, Span{Text: visible.Text(part), Strong: strong, Own: true})
			}
		}
	}
	for {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			own(format)
			return out
		}
		own(format[:at])
		verb := format[at : at+2]
		format = format[at+2:]
		if t, outside := args[0].(visible.Text); outside {
			out = append(out, Span{Text: t, Strong: strong})
		} else if t := fmt.Sprintf(verb, args[0]); t != "" {
			out = append(out, Span{Text: visible.Text(t), Strong: strong, Own: true})
		}
		args = args[1:]
	}
}
