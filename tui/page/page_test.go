package page

import (
	"strings"
	"testing"

	"handrail/evidence/visible"
	"handrail/session/report"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	say := func(k report.BlockKind, spans ...report.Span) report.Block {
		return report.Block{Kind: k, Spans: spans}
	}
	text := func(s visible.Text) report.Span { return report.Span{Text: s} }
	gap := report.Block{}
	blocks := []report.Block{
		say(report.TitleBlock, text("A lock_of *mine*")), gap,
		say(report.TextBlock, report.Span{Text: "recovered", Strong: true}, text(", severity SEV-3.")), gap,
		{Kind: report.TableBlock, Rows: [][]visible.Text{{"", ""}, {"incident", "2026"}, {"a | b", "<x>"}}}, gap,
		say(report.ItemBlock, report.Span{Text: "why:", Strong: true}, text(" it was held by somebody who is not here any more")),
		say(report.TaskBlock, text("call them")), gap,
		say(report.SectionBlock, text("Gates")), gap,
		{Kind: report.TableBlock, Rows: [][]visible.Text{{"step", "what", "none", "at"}, {"unlock", "released the lock after a long while", "", "02:14"}}}, gap,
		say(report.HeadingBlock, text("Then")), gap,
		{Kind: report.FenceBlock, Body: "$ tofu *x*"},
	}
	for _, tt := range []struct {
		w    int
		want string
	}{
		{40, `
A lock_of *mine*
════════════════════════════════════════
recovered, severity SEV-3.

incident  2026
a | b     <x>

- why: it was held by somebody who is
  not here any more
[ ] call them

Gates
────────────────────────────────────────
step    what                       at
unlock  released the lock after a  02:14
        long while

Then

  $ tofu *x*
`},
		{20, `
A lock_of *mine*
════════════════════
recovered, severity
SEV-3.

incident  2026
a | b     <x>

- why: it was held
  by somebody who is
  not here any more
[ ] call them

Gates
────────────────────
step unlock
  what released the
  lock after a long
  while
  at 02:14

Then

  $ tofu *x*
`},
	} {
		var got strings.Builder
		got.WriteByte('\n')
		for _, l := range Layout(blocks, tt.w) {
			got.WriteString(string(l.Text) + "\n")
		}
		if d := cmp.Diff(tt.want, got.String()); d != "" {
			t.Errorf("%d cells: %s", tt.w, d)
		}
	}
}

// TestNoLineIsWider: whatever the page is, no line is wider than asked for, and no letter of a word is lost.
func TestNoLineIsWider(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]visible.Text{"a", "|", "# ", "- ", "**", "```", "支付", "שלום", "👩‍👩‍👧", "e\u0301", "\\|", "&lt;", visible.Text(strings.Repeat("x", 50)), "\n", " "})
		text := rapid.Map(rapid.SliceOfN(word, 0, 12), func(words []visible.Text) visible.Text {
			var out visible.Text
			for _, w := range words {
				out += w
			}
			return out
		})
		block := rapid.Custom(func(t *rapid.T) report.Block {
			b := report.Block{Kind: report.BlockKind(rapid.IntRange(int(report.GapBlock), int(report.FenceBlock)).Draw(t, "kind"))}
			switch b.Kind {
			case report.TableBlock:
				b.Rows = rapid.SliceOfN(rapid.SliceOfN(text, 3, 3), 1, 5).Draw(t, "rows")
			case report.FenceBlock:
				b.Body = text.Draw(t, "body")
			default:
				b.Spans = []report.Span{{Text: text.Draw(t, "text"), Strong: rapid.Bool().Draw(t, "strong")}, {Text: text.Draw(t, "more")}}
			}
			return b
		})
		blocks := rapid.SliceOfN(block, 0, 20).Draw(t, "blocks")
		w := rapid.IntRange(leastWidth, 120).Draw(t, "w")
		last := 0
		for _, l := range Layout(blocks, w) {
			if l.From < last {
				t.Fatalf("piece %d comes after piece %d", l.From, last)
			}
			last = l.From
			if width(l.Text) > w {
				t.Fatalf("%d cells of %d: %q", width(l.Text), w, l.Text)
			}
			if strings.ContainsAny(string(l.Text), "\n") {
				t.Fatalf("a line breaks: %q", l.Text)
			}
		}
	})
}
