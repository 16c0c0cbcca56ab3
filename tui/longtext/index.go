package longtext

import (
	"bytes"
	"context"
	"sort"
)

const (
	block = 256 << 10
	// counted is how far lines are counted: the marks of more would be no small thing any more.
	counted = 256 << 30
)

// Index knows how many lines end before each block of a file. The zero value knows of nothing yet. It is a value: one that
// was handed out stays as it is while another is counted on.
type Index struct {
	marks []int64 // ends of lines before each block
	read  int64   // so far it is counted
	ends  int64   // of lines, in what is counted
	open  bool    // the last byte ends no line
	done  bool
}

// Count counts on over at most so many bytes. What it counted before ctx ended, or before the error, stays.
func (f *File) Count(ctx context.Context, ix Index, most int64) (Index, error) {
	if n := ix.read / block; ix.read%block != 0 && ix.read < f.size { // it grew: its last block is counted again
		ix.marks, ix.ends, ix.read = ix.marks[:n:n], ix.marks[n], n*block
	}
	buf := make([]byte, block)
	for stop := ix.read + most; ix.read < stop && ix.read < min(f.size, counted); {
		if err := ctx.Err(); err != nil {
			return ix, err
		}
		b := buf[:min(block, f.size-ix.read)]
		if err := f.fill(b, ix.read); err != nil {
			return ix, err
		}
		ix.marks = append(ix.marks, ix.ends)
		ix.ends += int64(bytes.Count(b, []byte{'\n'}))
		ix.read += int64(len(b))
		ix.open = b[len(b)-1] != '\n'
	}
	ix.done = ix.read == f.size
	return ix, nil
}

// Done says that every line is counted.
func (ix Index) Done() bool { return ix.done }

// Over says that nothing is left to count: all is counted, or the file has more than is.
func (ix Index) Over() bool { return ix.done || ix.read >= counted }

// Read is how many bytes are counted.
func (ix Index) Read() int64 { return ix.read }

// Lines is how many lines there are: exactly where it is done, at least else.
func (ix Index) Lines() int64 {
	if ix.open {
		return ix.ends + 1
	}
	return ix.ends
}

// Number is the number of the line that off stands in, the first one being 1; 0 where that is not counted yet.
func (f *File) Number(ix Index, off int64) (int64, error) {
	if off > ix.read || off > 0 && len(ix.marks) == 0 {
		return 0, nil
	}
	if off == 0 {
		return 1, nil
	}
	at := min(off/block, int64(len(ix.marks))-1)
	b, err := f.read(at*block, off)
	if err != nil {
		return 0, err
	}
	return ix.marks[at] + int64(bytes.Count(b, []byte{'\n'})) + 1, nil
}

// Line is where the line of that number begins; the last one begins there for a number that is too high. Not ok means
// that it is not counted yet.
func (f *File) Line(ix Index, n int64) (off int64, ok bool, err error) {
	if n > ix.Lines() {
		if !ix.done {
			return 0, false, nil
		}
		n = ix.Lines()
	}
	if n <= 1 {
		return 0, true, nil
	}
	// The end of the line before it lies in the last block that begins before that end.
	at := sort.Search(len(ix.marks), func(i int) bool { return ix.marks[i] >= n-1 }) - 1
	b, err := f.read(int64(at)*block, int64(at+1)*block)
	if err != nil {
		return 0, false, err
	}
	pos := 0
	for left := n - 1 - ix.marks[at]; left > 0; left-- {
		i := bytes.IndexByte(b[pos:], '\n')
		if i < 0 {
			return 0, false, errShort // it had more when it was counted
		}
		pos += i + 1
	}
	return int64(at)*block + int64(pos), true, nil
}
