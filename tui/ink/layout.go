package ink

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Cells is the width of d on the screen.
func Cells(d Drawn) int {
	if n, ok := plainCells(string(d)); ok {
		return n
	}
	return ansi.StringWidth(string(d))
}

// Cut shortens d to w cells.
func Cut(d Drawn, w int) Drawn {
	if w <= 0 {
		return ""
	}
	if n, ok := plainCells(string(d)); ok && n <= w {
		return d
	}
	return Drawn(ansi.Truncate(string(d), w, "…"))
}

// plainCells is the width of text of one cell a character, and of the colours in it. It is not
// ok where a character may be wider or join the one before: then graphemes have to be found,
// which is most of what a frame costs.
func plainCells(s string) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= ' ' && c <= '~':
			n++
		case c == '\x1b' && i+1 < len(s) && s[i+1] == '[':
			for i += 2; i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';'); i++ {
			}
			if i == len(s) || s[i] != 'm' {
				return 0, false
			}
		case c == '\xe2' && i+2 < len(s) && (s[i+1] == '\x94' || s[i+1] == '\x95') && s[i+2] >= '\x80' && s[i+2] <= '\xbf':
			n, i = n+1, i+2 // U+2500 to U+257F, what boxes are drawn with
		default:
			return 0, false
		}
	}
	return n, true
}

// Clip shortens a text to w cells.
func Clip(t Text, w int) Text { return Text(Cut(Drawn(start(string(t), w)), w)) }

// ClipStart shortens a text to its end of w cells.
func ClipStart(t Text, w int) Text {
	over := ansi.StringWidth(string(t)) - w
	if over <= 0 {
		return t
	}
	if w <= 0 {
		return ""
	}
	out := ansi.TruncateLeft(string(t), over+1, "…")
	if ansi.StringWidth(out) > w { // half of a wide letter was to go
		out = ansi.TruncateLeft(string(t), over+2, "…")
	}
	return Text(out)
}

// start is as much of l as says where it breaks at w cells: a text of a megabyte
// is not measured whole for each of its lines.
func start(l string, w int) string {
	if n := max(w, 0) + 5; len(l) > n && printable(l[:n]) {
		return l[:n]
	}
	for n := 32 * (max(w, 0) + 4); n < len(l); n *= 2 {
		for n < len(l) && !utf8.RuneStart(l[n]) {
			n++
		}
		if ansi.StringWidth(l[:n]) > w+4 { // the last character may go on
			return l[:n]
		}
	}
	return l
}

// printable reports whether each byte of l is a character of one cell.
func printable(l string) bool {
	for i := range len(l) {
		if l[i] < ' ' || l[i] > '~' {
			return false
		}
	}
	return true
}

// Fit makes d exactly w cells wide.
func Fit(d Drawn, w int) Drawn {
	d = Cut(d, w)
	return d + Blank(w-Cells(d))
}

// Blank is n empty cells.
func Blank(n int) Drawn { return Drawn(strings.Repeat(" ", max(0, n))) }

// Spread puts left and right at the ends of a line of w cells; left yields.
func Spread(left, right Drawn, w int) Drawn {
	room := w - Cells(right)
	if room < 0 {
		return Cut(right, w)
	}
	return Fit(left, room) + right
}

// Wrap breaks t into lines of at most w cells.
func Wrap(t Text, w int) []Text {
	w = max(1, w)
	var out []Text
	for l := range strings.SplitSeq(string(t), "\n") {
		out = append(out, wrapLine(l, w)...)
	}
	return out
}

// wrapLine breaks at spaces only: an id or a path stays whole, so that it can
// be copied, unless it is wider than the pane.
func wrapLine(l string, w int) []Text {
	var out []Text
	for {
		near := start(l, w)
		if Cells(Drawn(near)) <= w {
			break
		}
		head := ansi.Truncate(near, w+1, "")
		if at := strings.LastIndexByte(head, ' '); at > 0 && strings.TrimSpace(head[:at]) != "" {
			out, l = append(out, Text(strings.TrimRight(l[:at], " "))), strings.TrimLeft(l[at:], " ")
			continue
		}
		head = ansi.Truncate(near, w, "")
		if head == "" {
			break // a wide character in a pane of one cell
		}
		out, l = append(out, Text(head)), l[len(head):]
	}
	return append(out, Text(strings.TrimRight(l, " ")))
}

// Page collects the lines of a pane that is w cells wide.
type Page struct {
	W     int
	Theme *Theme
	Rows  []Drawn
}

// Add writes one line, cut to the width.
func (p *Page) Add(d Drawn) { p.Rows = append(p.Rows, Cut(d, p.W)) }

// Gap leaves one empty line, never two and none at the top.
func (p *Page) Gap() {
	if n := len(p.Rows); n > 0 && p.Rows[n-1] != "" {
		p.Rows = append(p.Rows, "")
	}
}

// Para writes wrapped text.
func (p *Page) Para(i Ink, t Text) {
	if t == "" {
		return
	}
	for _, l := range Wrap(t, p.W) {
		p.Rows = append(p.Rows, i.On(l))
	}
}

// Item writes wrapped text that hangs behind a mark.
func (p *Page) Item(m Drawn, i Ink, t Text) {
	if i2 := Cells(m); t == "" && i2 > 0 && strings.TrimSpace(ansi.Strip(string(m))) != "" {
		return // a name without a value says nothing
	}
	indent := Cells(m)
	for n, l := range Wrap(t, p.W-indent) {
		if n == 0 {
			p.Rows = append(p.Rows, m+i.On(l))
		} else {
			p.Rows = append(p.Rows, Blank(indent)+i.On(l))
		}
	}
}

// Flow writes short parts one behind the other, hung behind a mark. A line ends between two of
// them: a part is broken only where it is wider than the pane.
func (p *Page) Flow(m Drawn, i Ink, between Text, parts []Text) {
	room := p.W - Cells(m)
	var lines []Text
	for _, part := range parts {
		if n := len(lines) - 1; n >= 0 && Cells(Drawn(lines[n]+between+part)) <= room {
			lines[n] += between + part
			continue
		}
		lines = append(lines, Wrap(part, room)...)
	}
	for n, l := range lines {
		if n > 0 {
			m = Blank(Cells(m))
		}
		p.Rows = append(p.Rows, m+i.On(l))
	}
}

// Folded is an item of at most most lines: a longer one says how many more there are,
// and the key that shows them. It reports whether it was longer.
func (p *Page) Folded(m Drawn, i Ink, t Text, most int, key Text) bool {
	from := len(p.Rows)
	p.Item(m, i, t)
	n := len(p.Rows) - from
	if n > most {
		p.Rows = append(p.Rows[:from+most-1], Blank(Cells(m))+p.Theme.Muted.On(Say("… %d more lines: %s", n-most+1, key)))
	}
	return n > most
}

// Head writes the heading of a section.
func (p *Page) Head(t Text) {
	p.Gap()
	p.Add(p.Theme.Muted.On(t))
}

// Pair is a name and what stands beside it.
type Pair struct {
	Key   Text
	Value Text
	Ink   Ink
}

// Pairs writes names and values in two columns; a long value hangs.
func (p *Page) Pairs(indent, least, most int, rows []Pair) {
	wide := least
	for _, r := range rows {
		wide = max(wide, Cells(Drawn(r.Key)))
	}
	wide = min(wide, most)
	for _, r := range rows {
		p.Item(Blank(indent)+Fit(p.Theme.Muted.On(r.Key), wide)+"  ", r.Ink, r.Value)
	}
}

// Window shows h of the rows from off on; the offset it used comes back.
func Window(rows []Drawn, off, h int) ([]Drawn, int) {
	off = max(0, min(off, len(rows)-h))
	out := slices.Clone(rows[off:min(len(rows), off+max(0, h))])
	for len(out) < h {
		out = append(out, "")
	}
	return out, off
}

// Beside puts panes of equal height next to each other with a rule between.
func Beside(rule Drawn, widths []int, panes ...[]Drawn) []Drawn {
	var out []Drawn
	for i := range panes[0] {
		var row Drawn
		for n, p := range panes {
			if n > 0 {
				row += rule
			}
			var cell Drawn
			if i < len(p) {
				cell = p[i]
			}
			row += Fit(cell, widths[n])
		}
		out = append(out, row)
	}
	return out
}

// Screenful joins rows to exactly w by h cells: nothing that is drawn can push
// something else off the screen.
func Screenful(rows []Drawn, w, h int) string {
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(rows) {
			b.WriteString(string(Cut(rows[i], w)))
		}
	}
	return b.String()
}

// Line repeats a sign.
func Line(r Text, n int) Text { return Text(strings.Repeat(string(r), max(0, n))) }

// Double draws the frame that only a gate has.
func Double(i Ink, rows []Drawn, w int) []Drawn {
	b := lipgloss.DoubleBorder()
	out := []Drawn{i.On(Text(b.TopLeft) + Line(Text(b.Top), w-2) + Text(b.TopRight))}
	side := i.On(Text(b.Left))
	for _, r := range rows {
		out = append(out, side+" "+Fit(r, w-4)+" "+side)
	}
	return append(out, i.On(Text(b.BottomLeft)+Line(Text(b.Bottom), w-2)+Text(b.BottomRight)))
}
