package evidence

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"

	"handrail/evidence/disk"
)

// Reader reads a bundle without locking or changing it, also while another process writes it. It follows no link out
// of the bundle. Close it.
type Reader struct {
	root *os.Root
	path string
	meta Meta

	mu    sync.Mutex
	blobs *os.Root // the directory of blobs, once one was asked for: a walk less for each
}

// OpenReadOnly opens a bundle for reading.
func OpenReadOnly(path string) (*Reader, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening bundle: %w", err)
	}
	raw, err := readSmall(root, "bundle.json", maxMeta)
	if err == nil {
		var meta Meta
		if meta, err = parseMeta(raw); err == nil {
			return &Reader{root: root, path: path, meta: meta}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("opening bundle %q: %w", path, err), root.Close())
}

// Meta returns bundle.json.
func (r *Reader) Meta() Meta { return r.meta }

// Path returns the bundle's directory as given to OpenReadOnly.
func (r *Reader) Path() string { return r.path }

// Close ends reading.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blobs != nil {
		return errors.Join(r.blobs.Close(), r.root.Close())
	}
	return r.root.Close()
}

// TornError ends Entries when the journal's final line is not whole or not right: a writer is at work, or it crashed.
// Every entry before it is good.
type TornError struct {
	Segment string
	Offset  int64
	Length  int
	Whole   bool // the line has its end but wrong content: a crash, or an edit
	Err     error
}

func (e *TornError) Error() string {
	return fmt.Sprintf("%s: %d bytes after the last good entry, from byte %d: %v", e.Segment, e.Length, e.Offset, e.Err)
}

func (e *TornError) Unwrap() error { return e.Err }

// Entries yields the journal from its start, each entry checked against its hash and the one before, and its data whole
// where a blob holds it. The last pair
// yielded may be an error: *TornError for a torn tail, else one that wraps ErrCorrupt or a read error.
func (r *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		stopped := false
		all := whole{r: r}
		end, err := walkJournal(r.root, func(e Entry, _ []byte) error {
			if err := all.fill(&e); err != nil {
				return err
			}
			if !yield(e, nil) {
				stopped = true
				return io.EOF
			}
			return nil
		})
		switch {
		case stopped:
		case err != nil:
			yield(Entry{}, err)
		case end.tail != nil:
			t := end.tail
			yield(Entry{}, &TornError{Segment: end.segment, Offset: t.offset, Length: len(t.bytes), Whole: t.loud, Err: t.err})
		}
	}
}

// OpenBlob opens a stored artifact by its hash. Its bytes are not checked against the name; Verify does that.
func (r *Reader) OpenBlob(sum string) (io.ReadCloser, error) {
	if !isHex64(sum) {
		return nil, fmt.Errorf("%q is not the name of a blob", sum)
	}
	dir, err := r.blobDir()
	if err != nil {
		return nil, err
	}
	return openRegular(dir, sum[:2]+"/"+sum)
}

func (r *Reader) blobDir() (_ *os.Root, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blobs == nil {
		r.blobs, err = r.root.OpenRoot("blobs/sha256")
	}
	return r.blobs, err
}

// walkJournal hands every good entry to visit and returns the last scanner, which knows where the journal ends.
func walkJournal(root *os.Root, visit func(Entry, []byte) error) (*scanner, error) {
	names, err := someNames(root, "journal", maxFiles)
	if err != nil {
		return nil, err
	}
	count, err := segmentCount(names)
	if err != nil {
		return nil, err
	}
	s := &scanner{chain: chain{prev: zeroHash}}
	for n := 1; n <= count; n++ {
		f, err := openRegular(root, "journal/"+segmentName(n))
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil {
			s = newScanner(segmentName(n), f, s.chain, n == count, info.Size())
			err = walkSegment(s, visit)
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func walkSegment(s *scanner, visit func(Entry, []byte) error) error {
	for {
		e, line, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(e, line); err != nil {
			return err
		}
	}
}

// openRegular opens a plain file inside root; a link, even one that stays inside, is refused.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|disk.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	// What was a file a moment ago may be a pipe by now.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%q is not a regular file", name), err, f.Close())
	}
	return f, nil
}

func readSmall(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%q is over %d bytes", name, limit)
	}
	return b, err
}
