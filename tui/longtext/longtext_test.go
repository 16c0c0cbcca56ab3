package longtext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func of(s string) *File { return New(strings.NewReader(s), int64(len(s))) }

// naive breaks a whole text into pieces, knowing where each line begins.
func naive(s string) []Piece {
	var out []Piece
	for from := 0; from < len(s); {
		end := len(s)
		if n := strings.IndexByte(s[from:], '\n'); n >= 0 {
			end = from + n + 1
		}
		line := s[from:end]
		text := strings.TrimSuffix(line, "\n")
		if text != line {
			text = strings.TrimSuffix(text, "\r")
		}
		begin := 0
		for g := (from+span-1)/span*span + span; ; g += span {
			at := g - from
			if at > 0 && at < len(line) {
				at = keep(line, at)
			}
			if at >= len(text) {
				break
			}
			out = append(out, Piece{From: int64(from + begin), Next: int64(from + at), Text: []byte(line[begin:at]), First: begin == 0})
			begin = at
		}
		out = append(out, Piece{From: int64(from + begin), Next: int64(end), Text: []byte(text[begin:]), First: begin == 0, Last: true})
		from = end
	}
	return out
}

// keep moves a break so that no letter and no colour is cut.
func keep(line string, at int) int {
	for i := max(0, at-39); i < at; i++ {
		if n := colour([]byte(line[i:])); i+n > at {
			return i
		}
	}
	for i := max(0, at-3); i < at; i++ {
		if r, n := utf8.DecodeRuneInString(line[i:]); i+n > at && (r != utf8.RuneError || n > 1) && utf8.RuneStart(line[i]) {
			return i
		}
	}
	return at
}

func same(a, b []Piece) bool {
	return slices.EqualFunc(a, b, func(x, y Piece) bool {
		return x.From == y.From && x.Next == y.Next && x.First == y.First && x.Last == y.Last && bytes.Equal(x.Text, y.Text)
	})
}

// texts are texts of short and very long lines, of every kind of byte.
func texts() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a", "word ", "\n", "\r\n", "\r", "\t", "\x00", "\xff", "支付", "\U0001F525", "e\u0301", "עברית", "\x1b[31;1m", "\x1b[", "\x1b]0;x\a", "\u202e", "Error", "\x80\x80\x80\x80"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			s := part.Draw(t, "part")
			switch rapid.IntRange(0, 8).Draw(t, "times") {
			case 0: // a line that goes on and on
				s = strings.Repeat(s, rapid.IntRange(1, 3*span).Draw(t, "long")/len(s)+1)
			case 1:
				s = strings.Repeat(s, rapid.IntRange(1, 200).Draw(t, "short"))
			}
			b.WriteString(s)
		}
		if rapid.Bool().Draw(t, "near the grid") {
			s := b.String()
			at := len(s) / span * span
			return s[:at] + strings.Repeat("x", rapid.IntRange(0, 45).Draw(t, "off")) + s[at:]
		}
		return b.String()
	})
}

// TestPieces: from wherever one comes, and in either direction, the pieces are those of a look at the whole.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := texts().Draw(r, "text")
		f, want := of(s), naive(s)
		all, err := f.Forward(0, len(s)+1)
		if err != nil || !same(want, all) {
			r.Fatalf("forward: %v\n%s", err, cmp.Diff(want, all))
		}
		for range 10 {
			if len(want) == 0 {
				break
			}
			off := rapid.Int64Range(0, int64(len(s))-1).Draw(r, "off")
			i := 0
			for want[i].Next <= off {
				i++
			}
			if got, err := f.Piece(off); err != nil || !same(want[i:i+1], []Piece{got}) {
				r.Fatalf("at %d: %v\n%s", off, err, cmp.Diff(want[i], got))
			}
			n := rapid.IntRange(1, 100).Draw(r, "n")
			got, err := f.Back(want[i].From, n)
			if err != nil || !same(want[max(0, i-n):i], got) {
				r.Fatalf("%d before %d: %v\n%s", n, want[i].From, err, cmp.Diff(want[max(0, i-n):i], got))
			}
			var walked []Piece
			err = f.Walk(want[i].From, func(p Piece) bool {
				p.Text = bytes.Clone(p.Text)
				walked = append(walked, p)
				return len(walked) < n
			})
			if err != nil || !same(want[i:min(len(want), i+n)], walked) {
				r.Fatalf("walking %d from %d: %v\n%s", n, want[i].From, err, cmp.Diff(want[i:min(len(want), i+n)], walked))
			}
			got, err = f.Forward(want[i].From, n)
			if err != nil || !same(want[i:min(len(want), i+n)], got) {
				r.Fatalf("%d from %d: %v\n%s", n, want[i].From, err, cmp.Diff(want[i:min(len(want), i+n)], got))
			}
		}
	})
}

// TestIndex counts in slices of any size; a half counted index says at least as much as it knows and nothing else.
func TestIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := strings.Repeat(texts().Draw(r, "text")+"\n", rapid.IntRange(0, 6).Draw(r, "times")) + rapid.SampledFrom([]string{"", "end"}).Draw(r, "end")
		f := of(s)
		starts := []int64{}
		for from := 0; from < len(s); {
			starts = append(starts, int64(from))
			n := strings.IndexByte(s[from:], '\n')
			if n < 0 {
				break
			}
			from += n + 1
		}
		var ix Index
		var err error
		for {
			if got := ix.Lines(); got > int64(len(starts)) || ix.Done() && got != int64(len(starts)) {
				r.Fatalf("%d lines, done %v, want %d", got, ix.Done(), len(starts))
			}
			for range 5 {
				if len(starts) == 0 {
					break
				}
				i := rapid.IntRange(0, len(starts)-1).Draw(r, "line")
				if off, ok, err := f.Line(ix, int64(i)+1); err != nil || ok && off != starts[i] || !ok && int64(i) < ix.Lines() {
					r.Fatalf("line %d begins at %d, %v, %v; want %d", i+1, off, ok, err, starts[i])
				}
				n, err := f.Number(ix, starts[i])
				if err != nil || n != 0 && n != int64(i)+1 || n == 0 && starts[i] < ix.Read() {
					r.Fatalf("byte %d is in line %d, %v; want %d", starts[i], n, err, i+1)
				}
			}
			if ix.Done() {
				break
			}
			if ix, err = f.Count(t.Context(), ix, rapid.Int64Range(block/3, 2*block).Draw(r, "slice")); err != nil {
				r.Fatal(err)
			}
		}
		if off, ok, err := f.Line(ix, 1<<40); err != nil || !ok || len(starts) > 0 && off != starts[len(starts)-1] {
			r.Fatalf("the last line begins at %d, %v, %v", off, ok, err)
		}
	})
}

// TestSearch finds what a search of the whole finds, in slices, in both directions.
func TestSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := texts().Draw(r, "text") + strings.Repeat("-", rapid.SampledFrom([]int{0, block - 10, 3 * block}).Draw(r, "gap")) + texts().Draw(r, "more")
		typed := rapid.SampledFrom([]string{"a", "error", "Error", "word w", "付", "ф", "עברית", "---", "x\nx", "\x1b["}).Draw(r, "typed")
		whole := s
		if typed == strings.ToLower(typed) {
			whole = string(bytes.Map(func(c rune) rune {
				if c >= 'A' && c <= 'Z' {
					return c + 'a' - 'A'
				}
				return c
			}, []byte(s)))
			if len(whole) != len(s) { // bytes that are no letters became some
				b := []byte(s)
				lower(b)
				whole = string(b)
			}
		}
		f, p := of(s), Plain(typed)
		from := rapid.Int64Range(0, int64(len(s))).Draw(r, "from")
		want := int64(strings.Index(whole[from:], typed))
		if want >= 0 {
			want += from
		}
		at, hit := from, int64(-1)
		for hit < 0 && at < int64(len(s)) {
			var err error
			if hit, at, err = f.Search(t.Context(), p, at, rapid.Int64Range(block/3, 2*block).Draw(r, "slice")); err != nil {
				r.Fatal(err)
			}
		}
		if hit != want {
			r.Fatalf("%q from %d is at %d, want %d", typed, from, hit, want)
		}
		want, hit, at = int64(strings.LastIndex(whole[:min(len(s), int(from)+len(typed)-1)], typed)), -1, from
		for hit < 0 && at > 0 {
			var err error
			if hit, at, err = f.SearchBack(t.Context(), p, at, rapid.Int64Range(block/3, 2*block).Draw(r, "slice")); err != nil {
				r.Fatal(err)
			}
		}
		if hit != want {
			r.Fatalf("%q before %d is at %d, want %d", typed, from, hit, want)
		}
	})
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		typed, in string
		want      [][2]int
	}{
		{"error", "Error ERROR error", [][2]int{{0, 5}, {6, 11}, {12, 17}}},
		{"Error", "Error ERROR error", [][2]int{{0, 5}}},
		{"a.b", "a.b axb", [][2]int{{0, 3}}},
		{"straße", "STRAßE Straße", [][2]int{{0, 7}, {8, 15}}},
		{"aa", "aaaa", [][2]int{{0, 2}, {2, 4}}},
		{"\xffä", "\xffä", [][2]int{{0, 3}}},
		{"", "x", nil},
	} {
		if diff := cmp.Diff(tc.want, Plain(tc.typed).All(tc.in, 10)); diff != "" {
			t.Errorf("%q in %q:\n%s", tc.typed, tc.in, diff)
		}
	}
}

// TestShortAndStopped: a text that lost its end is an error, and a stop does not wait for the rest.
func TestShortAndStopped(t *testing.T) {
	t.Parallel()
	f := New(strings.NewReader("abc\n"), 1<<20)
	if _, err := f.Forward(0, 1); !errors.Is(err, errShort) {
		t.Errorf("Forward: %v", err)
	}
	if ix, err := f.Count(t.Context(), Index{}, 1<<20); !errors.Is(err, errShort) || ix.Read() != 0 {
		t.Errorf("Count: %+v, %v", ix, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := of(strings.Repeat("x", 1<<20))
	for name, do := range map[string]func() error{
		"Count":      func() error { _, err := g.Count(ctx, Index{}, 1<<20); return err },
		"Search":     func() error { _, _, err := g.Search(ctx, Plain("y"), 0, 1<<20); return err },
		"SearchBack": func() error { _, _, err := g.SearchBack(ctx, Plain("y"), 1<<20, 1<<20); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// nothing is a text of so many NULs that has no bytes.
type nothing struct{ asked *int64 }

func (n nothing) ReadAt(b []byte, _ int64) (int, error) {
	*n.asked += int64(len(b))
	clear(b)
	return len(b), nil
}

// TestOneLongLine: wherever one looks in a line of a terabyte, little of it is read.
func TestOneLongLine(t *testing.T) {
	t.Parallel()
	for _, off := range []int64{0, 1 << 20, 1<<39 + 12345, 1<<40 - 1} {
		var asked int64
		f := New(nothing{&asked}, 1<<40)
		p, err := f.Piece(off)
		if err != nil || off < p.From || off >= p.Next || len(p.Text) > 2*span {
			t.Fatalf("at %d: %d to %d, %v", off, p.From, p.Next, err)
		}
		if _, err := f.Forward(p.From, 40); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Back(p.From, 40); err != nil {
			t.Fatal(err)
		}
		if asked > 8<<20 {
			t.Errorf("at %d, %s were read", off, fmt.Sprintf("%d bytes", asked))
		}
	}
}
