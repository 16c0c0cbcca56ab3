package viewer

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// rows are up to most rows of a piece from one on.
func (l look) rows(p longtext.Piece, skip, most int) []textRow {
	if !l.wrap {
		return []textRow{l.cut(p)}
	}
	t := ink.Block(string(p.Text))
	from := hardWrap(t, l.w)
	marks := l.find.All(string(t), 1000)
	hit := -1
	if l.hit >= p.From && l.hit < p.Next {
		hit = l.rowOf(p, p.Text[:min(l.hit-p.From, int64(len(p.Text)))])
	}
	var out []textRow
	for i := skip; i < len(from) && len(out) < most; i++ {
		to := len(t)
		if i+1 < len(from) {
			to = from[i+1]
		}
		r := textRow{body: t[from[i]:to], marks: within(marks, from[i], to), hit: i == hit, from: p.From, next: p.Next, row: i}
		if i == 0 && p.First {
			r.line = 1
		}
		if i+1 < len(from) {
			r.next = p.From // the piece goes on
		}
		out = append(out, r)
	}
	return out
}

// cut is the one row of a piece that is not wrapped. No more of the piece is made
// visible than is seen.
func (l look) cut(p longtext.Piece) textRow {
	r := textRow{from: p.From, next: p.Next, hit: l.hit >= p.From && l.hit < p.Next}
	if p.First {
		r.line = 1
	}
	const slack = 200 // what half a letter or half a colour at the end may add
	t := ink.Text("")
	for n := 2*(l.right+l.w) + slack; ; n *= 4 {
		whole := n >= len(p.Text)
		n = min(n, len(p.Text))
		for back := 1; back < utf8.UTFMax && !whole && !utf8.RuneStart(p.Text[n]); back++ {
			n--
		}
		if t = ink.Block(string(p.Text[:n])); whole || wide(t) >= l.right+l.w+slack {
			break
		}
	}
	from, to := columns(t, l.right, l.w)
	r.body, r.less, r.more = t[from:to], from > 0, to < len(t) || !p.Last
	r.marks = within(l.find.All(string(t), 1000), from, to)
	return r
}

// wide is how many cells t takes.
func wide(t ink.Text) int {
	if ink.IsASCII(string(t)) {
		return len(t)
	}
	return ansi.StringWidth(string(t))
}

// within are the parts of marks that lie in [from, to), counted from there.
func within(marks [][2]int, from, to int) [][2]int {
	var out [][2]int
	for _, m := range marks {
		if a, b := max(m[0], from), min(m[1], to); a < b {
			out = append(out, [2]int{a - from, b - from})
		}
	}
	return out
}

// columns are the bytes of t that stand in the cells [left, left+w). A letter that
// is half outside is left out.
func columns(t ink.Text, left, w int) (from, to int) {
	if ink.IsASCII(string(t)) {
		return min(left, len(t)), min(left+w, len(t))
	}
	from, at, col := -1, 0, 0
	for s := string(t); s != ""; {
		cluster, wide := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if from < 0 && col >= left {
			from = at
		}
		if col+wide > left+w {
			break
		}
		at, col, s = at+len(cluster), col+wide, s[len(cluster):]
	}
	if from < 0 {
		from = at
	}
	return from, at
}

// hardWrap is where the rows of w cells begin in t: after so many cells, and
// nowhere else, so that nothing of the text is lost at the end of a row.
func hardWrap(t ink.Text, w int) []int {
	out := []int{0}
	w = max(2, w)
	if ink.IsASCII(string(t)) {
		for at := w; at < len(t); at += w {
			out = append(out, at)
		}
		return out
	}
	at, col := 0, 0
	for s := string(t); s != ""; {
		cluster, wide := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if col+wide > w {
			out, col = append(out, at), 0
		}
		at, col, s = at+len(cluster), col+wide, s[len(cluster):]
	}
	return out
}

// marked draws a row: what was looked for stands out.
func (r textRow) marked(plain, mark ink.Ink) ink.Drawn {
	var b strings.Builder
	at := 0
	for _, m := range r.marks {
		b.WriteString(string(plain.On(r.body[at:m[0]]) + mark.On(r.body[m[0]:m[1]])))
		at = m[1]
	}
	b.WriteString(string(plain.On(r.body[at:])))
	return ink.Drawn(b.String())
}
