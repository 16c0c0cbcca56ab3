package viewer

import (
	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// place is where a page of long text begins: a piece, and a row of it where it is
// wrapped.
type place struct {
	Off int64
	row int
}

// target is where a motion goes to before it goes on by rows.
type target int

const (
	toHere target = iota
	toFirst
	toLast
	toLine // to n, a number of a line that is counted
	toByte // to the row with the byte n, which stays where it is on the screen already
)

type motion struct {
	to target
	n  int64
	by int
}

// then is m, and after it n.
func (m motion) then(n motion) motion {
	if n.to == toHere {
		m.by = max(-furthest, min(m.by+n.by, furthest))
		return m
	}
	return n
}

// furthest bounds how many rows are gone at once: holding a key does not
// build up a way that is still gone when the key is let go.
const furthest = 1000

// look is what a page is made from. It is a value: pages are made beside the loop.
type look struct {
	At    place
	w, h  int
	wrap  bool
	right int // the first column that is shown, where lines are cut
	hit   int64
	find  longtext.Pattern
	Index longtext.Index
}

// textRow is one row of a page.
type textRow struct {
	line       int64 // the number of the line that begins here, 0 for none and where it is not counted
	body       ink.Text
	marks      [][2]int // bytes of body where the pattern stands
	less, more bool     // the line goes on to the left, to the right
	hit        bool     // the match that was looked for stands here
	from, next int64    // the piece
	row        int      // of the piece
}

// pageOf is a page, and from where and how it is seen.
type pageOf struct {
	at    place
	right int
	Rows  []textRow
	line  int64 // of the first row, 0 where it is not counted yet
	end   bool  // the last row of all is on it
}

// page goes where m says and returns what is seen there. A page is full where
// there is enough to fill it.
func (l look) page(f *longtext.File, m motion) (pageOf, error) {
	if f.Size() == 0 {
		return pageOf{end: true}, nil
	}
	if err := l.begin(f, m); err != nil {
		return pageOf{}, err
	}
	rows, err := l.down(f, l.At, l.h)
	if err == nil && len(rows) < l.h {
		if l.At, err = l.up(f, l.At, l.h-len(rows)); err == nil {
			rows, err = l.down(f, l.At, l.h)
		}
	}
	p := pageOf{at: l.At, right: l.right, Rows: rows}
	if n := len(rows); n > 0 && err == nil {
		p.end = rows[n-1].next >= f.Size()
		p.line, err = f.Number(l.Index, l.At.Off)
	}
	n := p.line
	for i := range rows {
		switch {
		case rows[i].line == 0 || p.line == 0:
			rows[i].line = 0
		case i > 0:
			n++
			fallthrough
		default:
			rows[i].line = n
		}
	}
	return p, err
}

// begin moves the beginning of the page.
func (l *look) begin(f *longtext.File, m motion) (err error) {
	switch m.to {
	case toFirst:
		l.At = place{}
	case toLast:
		if l.At, err = l.up(f, place{Off: f.Size()}, l.h); err != nil {
			return err
		}
	case toLine:
		off, ok, err := f.Line(l.Index, m.n)
		if err != nil || !ok {
			return err
		}
		l.At = place{Off: off}
	case toByte:
		if err := l.bring(f, m.n); err != nil {
			return err
		}
	default:
		p, err := f.Piece(l.At.Off)
		if err != nil {
			return err
		}
		l.At = place{p.From, min(l.At.row, len(l.breaks(p))-1)}
	}
	switch {
	case m.by < 0:
		l.At, err = l.up(f, l.At, -m.by)
	case m.by > 0:
		var rows []textRow
		if rows, err = l.down(f, l.At, m.by+1); err == nil && len(rows) > 0 {
			last := rows[len(rows)-1]
			l.At = place{last.from, last.row}
		}
	}
	return err
}

// bring makes the byte at off visible: a third down the page, unless it is on the
// page already.
func (l *look) bring(f *longtext.File, off int64) error {
	p, err := f.Piece(off)
	if err != nil {
		return err
	}
	lead := p.Text[:min(off-p.From, int64(len(p.Text)))]
	want := place{Off: p.From, row: l.rowOf(p, lead)}
	if !l.wrap {
		col := wide(ink.Block(string(lead)))
		if col < l.right || col >= l.right+l.w-2 {
			l.right = max(0, col-l.w/2)
		}
		if col < l.w-2 {
			l.right = 0
		}
	}
	rows, err := l.down(f, l.At, l.h)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.from == want.Off && r.row == want.row {
			return nil
		}
	}
	l.At, err = l.up(f, want, l.h/3)
	return err
}

// rowOf is the row of a wrapped piece on which what follows lead stands.
func (l look) rowOf(p longtext.Piece, lead []byte) int {
	if !l.wrap {
		return 0
	}
	at, row := len(ink.Block(string(lead))), 0
	for i, from := range l.breaks(p) {
		if from <= at {
			row = i
		}
	}
	return row
}

// breaks is where the rows of a piece begin in its text.
func (l look) breaks(p longtext.Piece) []int {
	if !l.wrap {
		return []int{0}
	}
	return hardWrap(ink.Block(string(p.Text)), l.w)
}

// up is the place so many rows before another.
func (l look) up(f *longtext.File, at place, by int) (place, error) {
	if by <= at.row {
		return place{at.Off, at.row - by}, nil
	}
	by -= at.row
	for {
		ps, err := f.Back(at.Off, min(by, 64))
		if err != nil || len(ps) == 0 {
			return place{at.Off, 0}, err
		}
		for i := len(ps) - 1; i >= 0; i-- {
			n := len(l.breaks(ps[i]))
			if by <= n {
				return place{ps[i].From, n - by}, nil
			}
			by -= n
		}
		at = place{Off: ps[0].From}
	}
}

// down is so many rows from a place on.
func (l look) down(f *longtext.File, at place, n int) ([]textRow, error) {
	var out []textRow
	err := f.Walk(at.Off, func(p longtext.Piece) bool {
		skip := 0
		if p.From == at.Off {
			skip = at.row
		}
		out = append(out, l.rows(p, skip, n-len(out))...)
		return len(out) < n
	})
	return out, err
}
