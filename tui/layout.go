package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// cells is the width of d on the screen.
func cells(d drawn) int { return ansi.StringWidth(string(d)) }

// cut shortens d to w cells.
func cut(d drawn, w int) drawn {
	if w <= 0 {
		return ""
	}
	return drawn(ansi.Truncate(string(d), w, "…"))
}

// clip shortens a text to w cells.
func clip(t text, w int) text { return text(cut(drawn(start(string(t), w)), w)) }

// start is as much of l as says where it breaks at w cells: a text of a megabyte
// is not measured whole for each of its lines.
func start(l string, w int) string {
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

// fit makes d exactly w cells wide.
func fit(d drawn, w int) drawn {
	d = cut(d, w)
	return d + blank(w-cells(d))
}

func blank(n int) drawn { return drawn(strings.Repeat(" ", max(0, n))) }

// spread puts left and right at the ends of a line of w cells; left yields.
func spread(left, right drawn, w int) drawn {
	room := w - cells(right)
	if room < 0 {
		return cut(right, w)
	}
	return fit(left, room) + right
}

// wrap breaks t into lines of at most w cells.
func wrap(t text, w int) []text {
	w = max(1, w)
	var out []text
	for l := range strings.SplitSeq(string(t), "\n") {
		out = append(out, wrapLine(l, w)...)
	}
	return out
}

// wrapLine breaks at spaces only: an id or a path stays whole, so that it can
// be copied, unless it is wider than the pane.
func wrapLine(l string, w int) []text {
	var out []text
	for {
		near := start(l, w)
		if ansi.StringWidth(near) <= w {
			break
		}
		head := ansi.Truncate(near, w+1, "")
		if at := strings.LastIndexByte(head, ' '); at > 0 && strings.TrimSpace(head[:at]) != "" {
			out, l = append(out, text(strings.TrimRight(l[:at], " "))), strings.TrimLeft(l[at:], " ")
			continue
		}
		head = ansi.Truncate(near, w, "")
		if head == "" {
			break // a wide character in a pane of one cell
		}
		out, l = append(out, text(head)), l[len(head):]
	}
	return append(out, text(strings.TrimRight(l, " ")))
}

// page collects the lines of a pane that is w cells wide.
type page struct {
	w    int
	th   *theme
	rows []drawn
}

func (p *page) add(d drawn) { p.rows = append(p.rows, cut(d, p.w)) }

// gap leaves one empty line, never two and none at the top.
func (p *page) gap() {
	if n := len(p.rows); n > 0 && p.rows[n-1] != "" {
		p.rows = append(p.rows, "")
	}
}

// para writes wrapped text.
func (p *page) para(i ink, t text) {
	if t == "" {
		return
	}
	for _, l := range wrap(t, p.w) {
		p.rows = append(p.rows, i.on(l))
	}
}

// item writes wrapped text that hangs behind a mark.
func (p *page) item(m drawn, i ink, t text) {
	if i2 := cells(m); t == "" && i2 > 0 && strings.TrimSpace(ansi.Strip(string(m))) != "" {
		return // a name without a value says nothing
	}
	indent := cells(m)
	for n, l := range wrap(t, p.w-indent) {
		if n == 0 {
			p.rows = append(p.rows, m+i.on(l))
		} else {
			p.rows = append(p.rows, blank(indent)+i.on(l))
		}
	}
}

// head writes the heading of a section.
func (p *page) head(t text) {
	p.gap()
	p.add(p.th.muted.on(t))
}

// pair is a name and what stands beside it.
type pair struct {
	key   text
	value text
	ink   ink
}

// pairs writes names and values in two columns; a long value hangs.
func (p *page) pairs(indent, least, most int, rows []pair) {
	wide := least
	for _, r := range rows {
		wide = max(wide, cells(drawn(r.key)))
	}
	wide = min(wide, most)
	for _, r := range rows {
		p.item(blank(indent)+fit(p.th.muted.on(r.key), wide)+"  ", r.ink, r.value)
	}
}

// window shows h of the rows from off on; the offset it used comes back.
func window(rows []drawn, off, h int) ([]drawn, int) {
	off = max(0, min(off, len(rows)-h))
	out := slices.Clone(rows[off:min(len(rows), off+max(0, h))])
	for len(out) < h {
		out = append(out, "")
	}
	return out, off
}

// beside puts panes of equal height next to each other with a rule between.
func beside(rule drawn, widths []int, panes ...[]drawn) []drawn {
	var out []drawn
	for i := range panes[0] {
		var row drawn
		for n, p := range panes {
			if n > 0 {
				row += rule
			}
			var cell drawn
			if i < len(p) {
				cell = p[i]
			}
			row += fit(cell, widths[n])
		}
		out = append(out, row)
	}
	return out
}

// screenful joins rows to exactly w by h cells: nothing that is drawn can push
// something else off the screen.
func screenful(rows []drawn, w, h int) string {
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(rows) {
			b.WriteString(string(cut(rows[i], w)))
		}
	}
	return b.String()
}

func line(r text, n int) text { return text(strings.Repeat(string(r), max(0, n))) }

// double draws the frame that only a gate has.
func double(i ink, rows []drawn, w int) []drawn {
	b := lipgloss.DoubleBorder()
	out := []drawn{i.on(text(b.TopLeft) + line(text(b.Top), w-2) + text(b.TopRight))}
	side := i.on(text(b.Left))
	for _, r := range rows {
		out = append(out, side+" "+fit(r, w-4)+" "+side)
	}
	return append(out, i.on(text(b.BottomLeft)+line(text(b.Bottom), w-2)+text(b.BottomRight)))
}
