package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	const src = "# A lock\\_of \\*mine\\*\n\n**recovered**, severity SEV\\-3.\n\n| | |\n| --- | --- |\n| incident | 2026 |\n| a \\| b | &lt;x&gt; |\n\n" +
		"- **why:** it was held by somebody who is not here any more\n- [ ] call them\n\n## Gates\n\n| step | what | none | at |\n| --- | --- | --- | --- |\n| unlock | released the lock after a long while | | 02:14 |\n\n### Then\n\n```\n$ tofu *x*\n```\n"
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
		for _, l := range Layout(src, tt.w) {
			got.WriteString(string(l.Text) + "\n")
		}
		if d := cmp.Diff(tt.want, got.String()); d != "" {
			t.Errorf("%d cells: %s", tt.w, d)
		}
	}
}

// TestNoLineIsWider: whatever the source is, no line is wider than asked for, and no letter of a word is lost.
func TestNoLineIsWider(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"| a | b |", "|", "| --- | --- |", "# ", "## x", "- ", "**", "`", "```", "支付", "שלום", "👩‍👩‍👧", "e\u0301", "\x1b[2J", "\\|", "&lt;", strings.Repeat("x", 50), "\n", " "})
		src := strings.Join(rapid.SliceOfN(word, 0, 60).Draw(t, "words"), rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "between"))
		w := rapid.IntRange(leastWidth, 120).Draw(t, "w")
		for _, l := range Layout(src, w) {
			if width(l.Text) > w {
				t.Fatalf("%d cells of %d: %q", width(l.Text), w, l.Text)
			}
			if strings.ContainsAny(string(l.Text), "\n\x1b") {
				t.Fatalf("a control character is left: %q", l.Text)
			}
		}
	})
}
