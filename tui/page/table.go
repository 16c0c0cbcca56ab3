package page

import (
	"slices"
	"strings"

	"handrail/evidence/visible"
)

const (
	between   = 2  // cells between two columns
	leastCell = 12 // a column that is narrower than its text breaks words to bits
)

// table takes the rows of a table. Where its columns have no room beside each
// other, each row becomes a paragraph of names and values.
func (l *layout) table(cells [][]visible.Text) {
	rows := make([][]visible.Text, len(cells))
	for i, r := range cells {
		for _, t := range r {
			rows[i] = append(rows[i], visible.Text(strings.TrimSpace(string(flat(t)))))
		}
	}
	from := l.at
	rows, heads := compact(rows)
	if len(rows) < 2 || len(rows[0]) == 0 {
		return
	}
	if wide := columns(rows, l.w); wide != nil {
		l.grid(from, rows, wide, heads)
	} else {
		l.records(from, rows)
	}
}

// compact drops columns that say nothing, and tells whether the others have names.
func compact(rows [][]visible.Text) (_ [][]visible.Text, heads bool) {
	if len(rows) == 0 {
		return nil, false
	}
	n := len(rows[0])
	keep := make([]bool, n)
	for i, r := range rows {
		for c, t := range r {
			if c < n && i > 0 && t != "" {
				keep[c] = true
			}
		}
	}
	out := make([][]visible.Text, len(rows))
	for i, r := range rows {
		for c := range n {
			switch {
			case !keep[c]:
			case c < len(r):
				out[i] = append(out[i], r[c])
			default:
				out[i] = append(out[i], "")
			}
		}
	}
	return out, slices.ContainsFunc(out[0], func(t visible.Text) bool { return t != "" })
}

// columns shares w cells out: what fits has its own width, the others share the
// rest. nil where that leaves one of them too narrow to read.
func columns(rows [][]visible.Text, w int) []int {
	n := len(rows[0])
	if n == 0 {
		return nil
	}
	want := make([]int, n)
	for _, r := range rows {
		for c, t := range r {
			want[c] = max(want[c], width(t))
		}
	}
	room, open := w-between*(n-1), n
	wide := make([]int, n)
	for again := true; again && open > 0; {
		again = false
		for c := range want {
			if wide[c] == 0 && want[c] <= room/open {
				wide[c] = max(1, want[c])
				room, open, again = room-wide[c], open-1, true
				if open == 0 {
					break
				}
			}
		}
	}
	for c := range want {
		if wide[c] == 0 {
			if wide[c] = room / open; wide[c] < leastCell {
				return nil
			}
			room, open = room-wide[c], open-1
		}
	}
	return wide
}

func (l *layout) grid(from int, rows [][]visible.Text, wide []int, heads bool) {
	for i, r := range rows {
		if i == 0 && !heads {
			continue
		}
		k := Plain
		if i == 0 {
			k = Head
		}
		l.at = from + i
		parts := make([][]visible.Text, len(r))
		deep := 1
		for c, t := range r {
			parts[c] = fold(t, wide[c])
			deep = max(deep, len(parts[c]))
		}
		for d := range deep {
			var row visible.Text
			for c := range r {
				var t visible.Text
				if d < len(parts[c]) {
					t = parts[c][d]
				}
				row += t
				if c < len(r)-1 {
					row += spaces(wide[c] - width(t) + between)
				}
			}
			l.add(k, visible.Text(strings.TrimRight(string(row), " ")))
		}
	}
}

// records writes each row as its first cell and, below it, the others by name.
func (l *layout) records(from int, rows [][]visible.Text) {
	for i, r := range rows[1:] {
		l.at = from + 1 + i
		l.hang(Strong, "", label(rows[0][0])+r[0])
		for c := 1; c < len(r); c++ {
			if r[c] != "" {
				l.hang(Plain, "  ", label(rows[0][c])+r[c])
			}
		}
	}
}

func label(name visible.Text) visible.Text {
	if name == "" {
		return ""
	}
	return name + " "
}
