// Package longtext reads text of any size in windows. Nothing in it holds more than the window that was asked for and a
// little around it, whether the text is a million lines or one line of a gigabyte.
//
// A *piece* is what one row of an unwrapped view shows: a line, or a part of one. A line of more than 16 KiB (a span) is
// broken where the file's own grid of spans crosses it, at least a span from its beginning. Whether a point of
// the grid breaks a line is therefore seen in the span before it: no beginning must be looked for, and the pieces
// are the same in whichever direction, and from wherever, they are come upon. A piece has less than two spans.
//
// An [Index] is counted beside the reader, in slices, and knows how many lines come before each block of the file.
package longtext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// span is how many bytes of a line stand in one piece at least, where it goes on in another.
const span = 16 << 10

const (
	window   = 64 << 10 // what is read at once
	sequence = 40       // the longest colour sequence that is shown as nothing
)

// errShort is the error where a text ends earlier than it said.
var errShort = errors.New("the text is shorter than it was")

// File is a text that is read in windows. It may be used by several goroutines.
type File struct {
	src   io.ReaderAt
	size  int64
	spare sync.Pool // of windows
}

// New reads src, of which size bytes count.
func New(src io.ReaderAt, size int64) *File { return &File{src: src, size: max(0, size)} }

// Size is how many bytes there are.
func (f *File) Size() int64 { return f.size }

// read returns the bytes of [from, to) that there are.
func (f *File) read(from, to int64) ([]byte, error) {
	from, to = max(0, from), min(to, f.size)
	if from >= to {
		return nil, nil
	}
	b := make([]byte, to-from)
	return b, f.fill(b, from)
}

func (f *File) fill(b []byte, from int64) error {
	n, err := f.src.ReadAt(b, from)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("reading byte %d: %w", from+int64(n), errShort)
	}
	return fmt.Errorf("reading byte %d: %w", from+int64(n), err)
}

// Piece is a line, or a part of one.
type Piece struct {
	From  int64  // where it begins
	Next  int64  // where the next one does
	Text  []byte // without the end of the line
	First bool   // it begins its line
	Last  bool   // it ends its line
}

// walker goes from piece to piece over a window that it moves along.
type walker struct {
	f    *File
	base int64
	buf  []byte
	over bool // one window may be written over the other
}

// have makes [from, to) part of the window; what the file does not have is cut off.
func (w *walker) have(from, to int64) error {
	from, to = max(0, from), min(to, w.f.size)
	if from >= w.base && to <= w.base+int64(len(w.buf)) {
		return nil
	}
	to = min(max(to, from+window), w.f.size)
	if n := int(to - from); !w.over || cap(w.buf) < n {
		w.buf = make([]byte, n)
	} else {
		w.buf = w.buf[:n]
	}
	w.base = from
	err := w.f.fill(w.buf, from)
	if err != nil {
		w.buf = nil
	}
	return err
}

func (w *walker) bytes(from, to int64) []byte {
	end := w.base + int64(len(w.buf))
	from, to = min(max(from, w.base), end), min(max(to, w.base), end)
	return w.buf[from-w.base : max(from, to)-w.base]
}

// settle is where a break at the point g of the grid falls: before a letter or a colour that it would cut in two.
func (w *walker) settle(g int64) int64 {
	before := w.bytes(g-sequence, g)
	if e := bytes.LastIndexByte(before, 0x1b); e >= 0 {
		at := g - int64(len(before)-e)
		if n := colour(w.bytes(at, at+sequence)); at+int64(n) > g {
			return at
		}
	}
	for back := int64(1); back < utf8.UTFMax && back <= int64(len(before)); back++ {
		if !utf8.RuneStart(before[int64(len(before))-back]) {
			continue
		}
		if _, n := utf8.DecodeRune(w.bytes(g-back, g-back+utf8.UTFMax)); int64(n) > back {
			return g - back
		}
		break
	}
	return g
}

// colour is the length of a complete colour sequence at the start of b, or 0.
func colour(b []byte) int {
	if len(b) < 2 || b[0] != 0x1b || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b) && i < sequence; i++ {
		switch c := b[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// next returns the piece that begins at from.
func (w *walker) next(from int64) (Piece, error) {
	if err := w.have(from-sequence-1, from+2*span+2*sequence); err != nil {
		return Piece{}, err
	}
	p := Piece{From: from, First: from == 0 || w.bytes(from-1, from)[0] == '\n'}
	end := w.f.size
	// What begins by a break begins on the grid or shortly before it.
	if g := (from+span-1)/span*span + span; g < end {
		end = w.settle(g)
	}
	text := w.bytes(from, end)
	switch n := bytes.IndexByte(text, '\n'); {
	case n >= 0:
		p.Text, p.Next, p.Last = text[:n], from+int64(n)+1, true
	case end == w.f.size:
		p.Text, p.Next, p.Last = text, end, true
		return p, nil // what has no end of line ends as it is
	default:
		p.Text, p.Next = text, end
		// A line that ends at the break needs no other piece for its end.
		for _, stop := range []string{"\n", "\r\n"} {
			if string(w.bytes(end, end+int64(len(stop)))) == stop {
				p.Next, p.Last = end+int64(len(stop)), true
			}
		}
	}
	if p.Last && w.bytes(p.Next-1, p.Next)[0] == '\n' {
		p.Text = bytes.TrimSuffix(p.Text, []byte("\r"))
	}
	return p, nil
}

// Piece returns the piece that the byte at off stands in, its end of line included; the last one behind the end. There is
// none in an empty file.
func (f *File) Piece(off int64) (Piece, error) {
	w := walker{f: f}
	return w.at(off)
}

func (w *walker) at(off int64) (Piece, error) {
	if w.f.size == 0 {
		return Piece{Last: true, First: true}, nil
	}
	off = max(0, min(off, w.f.size-1))
	lo := max(0, off-3*span-2*sequence)
	if err := w.have(lo, off+2*span+2*sequence); err != nil {
		return Piece{}, err
	}
	from := int64(0)
	if n := bytes.LastIndexByte(w.bytes(lo, off), '\n'); n >= 0 {
		from = lo + int64(n) + 1
	} else if lo > 0 {
		from = w.settle((off/span - 1) * span) // the line began long before that point
	}
	for {
		p, err := w.next(from)
		if err != nil || off < p.Next || p.Next >= w.f.size {
			return p, err
		}
		from = p.Next
	}
}

// Walk visits the pieces from the one that begins at from on, until visit says that it has enough. A piece's text is only
// good during the visit: a page of very long lines then costs one window and not one for each.
func (f *File) Walk(from int64, visit func(Piece) bool) error {
	buf, ok := f.spare.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	w := walker{f: f, buf: (*buf)[:0], over: true}
	for from < f.size {
		p, err := w.next(from)
		if err != nil {
			return err
		}
		if !visit(p) {
			break
		}
		from = p.Next
	}
	*buf = w.buf
	f.spare.Put(buf)
	return nil
}

// Forward returns up to n pieces from the one that begins at from.
func (f *File) Forward(from int64, n int) ([]Piece, error) {
	w := walker{f: f}
	var out []Piece
	for len(out) < n && from < f.size {
		p, err := w.next(from)
		if err != nil {
			return out, err
		}
		out = append(out, p)
		from = p.Next
	}
	return out, nil
}

// Back returns up to n pieces before the one that begins at from, in the order of the file.
func (f *File) Back(from int64, n int) ([]Piece, error) {
	if from <= 0 || n <= 0 {
		return nil, nil
	}
	for reach := int64(8 << 10); ; reach *= 4 {
		lo := max(0, from-reach)
		w := walker{f: f}
		if err := w.have(lo-3*span-2*sequence, from+2*span+2*sequence); err != nil {
			return nil, err
		}
		p, err := w.at(lo)
		var out []Piece
		for err == nil && p.From < from {
			if out = append(out, p); p.Next >= f.size {
				break
			}
			p, err = w.next(p.Next)
		}
		switch {
		case err != nil:
			return nil, err
		case len(out) >= n:
			return out[len(out)-n:], nil
		case lo == 0:
			return out, nil
		}
	}
}
