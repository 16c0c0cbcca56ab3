package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// tail is what follows the last good line of a journal when the journal does not end with it.
type tail struct {
	offset int64
	bytes  []byte
	loud   bool // a whole line with a wrong content: a crash, or an edit
	err    error
}

// chain is what a line must continue.
type chain struct {
	next int64
	prev string
}

// scanner reads the lines of one segment and holds each to the chain. It keeps one line in memory.
type scanner struct {
	chain
	segment string
	last    bool // only the last segment may have a torn tail
	in      *bufio.Reader
	off     int64
	tail    *tail // set when next returns io.EOF and bytes are left over
}

// newScanner reads the first size bytes of a segment: what a writer adds meanwhile is for the next time, and a small
// journal needs no room for the longest line.
func newScanner(segment string, in io.Reader, from chain, last bool, size int64) *scanner {
	room := min(max(size+1, 4096), MaxEntry)
	return &scanner{chain: from, segment: segment, last: last, in: bufio.NewReaderSize(io.LimitReader(in, size), int(room))}
}

// next returns the next good line's entry and length. io.EOF ends the segment, with s.tail set when the final line is
// not good; a bad line that is not the final one is a LineError that wraps ErrCorrupt.
func (s *scanner) next() (Entry, []byte, error) {
	line, err := s.in.ReadSlice('\n')
	if len(line) == 0 && errors.Is(err, io.EOF) {
		return Entry{}, nil, io.EOF
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Entry{}, nil, s.corrupt(ErrTooLarge)
	case errors.Is(err, io.EOF):
		return s.atEnd(line, false, errors.New("line has no end"))
	case err != nil:
		return Entry{}, nil, fmt.Errorf("reading %s: %w", s.segment, err)
	}
	e, err := parseEntry(line[:len(line)-1])
	if err == nil {
		err = s.follows(&e)
	}
	if err != nil {
		// ReadSlice keeps its line valid only until the next read.
		line = append([]byte(nil), line...)
		if _, perr := s.in.Peek(1); errors.Is(perr, io.EOF) {
			return s.atEnd(line, true, err)
		}
		return Entry{}, nil, s.corrupt(err)
	}
	s.accept(&e, len(line))
	return e, line, nil
}

func (s *scanner) accept(e *Entry, n int) {
	s.off += int64(n)
	s.chain = chain{next: e.Seq + 1, prev: e.Hash}
}

func (c chain) follows(e *Entry) error {
	if e.Seq != c.next {
		return fmt.Errorf("it is numbered %d", e.Seq)
	}
	if e.Prev != c.prev {
		return errors.New("it does not follow the line before it")
	}
	return nil
}

func (s *scanner) atEnd(line []byte, loud bool, err error) (Entry, []byte, error) {
	if !s.last {
		return Entry{}, nil, s.corrupt(err)
	}
	s.tail = &tail{offset: s.off, bytes: append([]byte(nil), line...), loud: loud, err: err}
	return Entry{}, nil, io.EOF
}

func (s *scanner) corrupt(err error) error {
	return fmt.Errorf("%w: %w", ErrCorrupt, &LineError{Segment: s.segment, Seq: s.chain.next, Offset: s.off, Err: err})
}

// segmentName is the name of the nth segment, counted from 1.
func segmentName(n int) string { return fmt.Sprintf("%06d.jsonl", n) }

// segmentCount checks that the names are 000001.jsonl and on without a gap, and returns how many.
func segmentCount(names []string) (int, error) {
	for i, name := range names { // sorted, as directory reads are
		if name != segmentName(i+1) {
			return 0, fmt.Errorf("journal holds %q where %s belongs", name, strconv.Quote(segmentName(i+1)))
		}
	}
	if len(names) == 0 {
		return 0, fmt.Errorf("journal has no segment: %w", ErrEmpty)
	}
	return len(names), nil
}
