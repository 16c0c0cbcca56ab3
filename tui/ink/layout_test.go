package ink

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// measured is wrapLine as it would be if each line were measured whole.
func measured(l string, w int) []Text {
	var out []Text
	for ansi.StringWidth(l) > w {
		head := ansi.Truncate(l, w+1, "")
		if at := strings.LastIndexByte(head, ' '); at > 0 && strings.TrimSpace(head[:at]) != "" {
			out, l = append(out, Text(strings.TrimRight(l[:at], " "))), strings.TrimLeft(l[at:], " ")
			continue
		}
		head = ansi.Truncate(l, w, "")
		if head == "" {
			break
		}
		out, l = append(out, Text(head)), l[len(head):]
	}
	return append(out, Text(strings.TrimRight(l, " ")))
}

// Long text breaks where it would if it were measured whole, wide characters and marks included.
func TestLongTextBreaksAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "address", " ", "  ", "東京", "e\u0301", "a\u0302\u0303\u0323\u0331", "👩🏽", "🇩🇪", "한", "ก\u0e34\u0e48", "⏎", "module.x[\"y\"]"}
	for i := range 100 {
		var b strings.Builder
		n, run := 400, 0
		if i%2 == 0 { // most of it is of one cell a byte
			n, run = 30, 40
		}
		for range r.IntN(n) {
			b.WriteString(pieces[r.IntN(len(pieces))] + strings.Repeat("x", r.IntN(run+1)))
		}
		w := 1 + r.IntN(20)
		if got, want := wrapLine(b.String(), w), measured(b.String(), w); !slices.Equal(got, want) {
			t.Fatalf("wrapLine(%q, %d) = %q, want %q", b.String(), w, got, want)
		}
		if got, want := Clip(Text(b.String()), w), Text(Cut(Drawn(b.String()), w)); got != want {
			t.Fatalf("clip(%q, %d) = %q, want %q", b.String(), w, got, want)
		}
	}
}

// Half a megabyte on one line is drawn; measured whole for each line of the screen it would take minutes.
func TestMegabyteOfText(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	long := strings.Repeat(strings.Repeat("module.tenants.", 16)+" ", 2_000)
	if n := len(wrapLine(long, 80)); n < 6_000 {
		t.Errorf("%d lines", n)
	}
}

// TestShortcutsDrawTheSame: widths and colours that are worked out without finding graphemes or
// laying out are those of the libraries.
func TestShortcutsDrawTheSame(t *testing.T) {
	t.Parallel()
	parts := []string{"a", " ", "~", "│", "═", "╬", "\x1b[1m", "\x1b[38;2;1;2;3m", "\x1b[m", "\x1b[", "\x1b[2K", "\x1b]8;;x\x07", "é", "e\u0301", "界", "✓", "👍🏽", "…", "\u200d", "\xe2", "\xe2\x94", "\x7f"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var s string
		for range r.IntN(9) {
			s += parts[r.IntN(len(parts))]
		}
		if n, ok := plainCells(s); ok && n != ansi.StringWidth(s) {
			t.Fatalf("%q is %d cells wide, not %d", s, ansi.StringWidth(s), n)
		}
		for w := range 6 {
			if got, want := Cut(Drawn(s), w+1), Drawn(ansi.Truncate(s, w+1, "…")); got != want {
				t.Fatalf("%q in %d cells is %q, want %q", s, w+1, got, want)
			}
		}
	}
	for _, th := range []Theme{Monochrome(), NewTheme(ThemeAuto, DarkGround), NewTheme(ThemeTerminal, UnknownGround)} {
		for _, i := range []Ink{th.Plain, th.Strong, th.Muted, th.Bad, th.ChipArmed, th.Place, th.Veil} {
			for _, text := range []Text{"one", " two  words ", "é 界", "two\nlines", "a\ttab"} {
				if got, want := i.On(text), Drawn(i.style.Render(string(text))); got != want {
					t.Errorf("%q is drawn as %q, want %q", text, got, want)
				}
			}
		}
	}
}

// TestFlow: a line ends between two parts, never inside of one that fits; all are there, in order.
func TestFlow(t *testing.T) {
	t.Parallel()
	th := NewTheme(ThemeMono, DarkGround)
	parts := []Text{"1 source control", "2 ci", "3 state backend", "artifact", "begin one, and each says what it means"}
	for w := 20; w < 120; w++ {
		p := Page{W: w, Theme: &th}
		p.Flow("or  ", th.Plain, " · ", parts)
		at := 0
		for _, r := range p.Rows {
			line := ansi.Strip(string(r))
			if Cells(r) > w {
				t.Fatalf("at %d cells: %q is %d wide", w, line, Cells(r))
			}
			for at < len(parts) && strings.Contains(line, string(parts[at])) {
				at++
			}
			if at < len(parts) && Cells(Drawn(parts[at])) > w-4 { // broken, since it is wider than the pane
				at++
			}
		}
		if at != len(parts) {
			t.Errorf("at %d cells %q is broken:\n%s", w, parts[at], p.Rows)
		}
	}
}
