package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Follower reads a journal as it grows: each call of More continues where the one before ended. It locks nothing, so that
// it reads beside the writer. A Follower is for one goroutine.
type Follower struct {
	r       *Reader
	chain   chain
	all     whole
	segment int // the one that is read, counted from 1
	off     int64
}

// Follow starts at the first entry.
func (r *Reader) Follow() *Follower {
	return &Follower{r: r, all: whole{r: r}, chain: chain{prev: zeroHash}, segment: 1}
}

// More hands every entry that was added since the last call to visit, checked as Entries does. A line that is not whole
// yet is left for the next call. An error of visit ends the call after its entry; that of a bad line wraps ErrCorrupt, and
// the same call fails the same way until the journal is mended.
func (f *Follower) More(visit func(Entry) error) error {
	for {
		next, err := f.exists(f.segment + 1)
		if err != nil {
			return err
		}
		if err := f.read(!next, visit); err != nil || !next {
			return err
		}
		f.segment, f.off = f.segment+1, 0
	}
}

func (f *Follower) exists(segment int) (bool, error) {
	_, err := f.r.root.Lstat("journal/" + segmentName(segment))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// read goes to the end of the present segment. last says that none follows it, so that it may end in a torn line.
func (f *Follower) read(last bool, visit func(Entry) error) error {
	file, err := openRegular(f.r.root, "journal/"+segmentName(f.segment))
	if err != nil {
		return fmt.Errorf("following the journal: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	switch {
	case info.Size() < f.off:
		return fmt.Errorf("%w: %s became shorter than what was read of it", ErrCorrupt, segmentName(f.segment))
	case info.Size() == f.off:
		return nil
	}
	if _, err := file.Seek(f.off, io.SeekStart); err != nil {
		return err
	}
	s := newScanner(segmentName(f.segment), file, f.chain, last, info.Size()-f.off)
	s.off = f.off
	for {
		e, _, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.all.fill(&e); err != nil {
			return err
		}
		f.chain, f.off = s.chain, s.off
		if err := visit(e); err != nil {
			return err
		}
	}
}
