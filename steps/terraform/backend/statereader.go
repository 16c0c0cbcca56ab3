package backend

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
)

// stateReader is a remote state that is fetched anew for each pass over it: a large
// one is then neither in memory nor on the disk. What differs between two
// passes is an error, since it would not be known which of the two was looked at.
type stateReader struct {
	ctx   context.Context
	open  func(context.Context) (io.ReadCloser, error)
	now   io.ReadCloser
	sum   hash.Hash
	first []byte // sum of the first whole pass
}

// newStateReader starts with a first pass that is open already.
func newStateReader(ctx context.Context, now io.ReadCloser, open func(context.Context) (io.ReadCloser, error)) *stateReader {
	return &stateReader{ctx: ctx, open: open, now: now, sum: sha256.New()}
}

func (r *stateReader) Read(p []byte) (int, error) {
	if r.now == nil {
		return 0, errors.New("the state was closed")
	}
	n, err := r.now.Read(p)
	r.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if why := r.whole(); why != nil {
			return n, why
		}
	}
	return n, err
}

// whole compares a pass that came to its end with the first.
func (r *stateReader) whole() error {
	sum := r.sum.Sum(nil)
	switch {
	case r.first == nil:
		r.first = sum
	case string(r.first) != string(sum):
		return errors.New("the state changed while it was read: read it again, a writer is alive")
	}
	return nil
}

// Seek goes back to the start and nowhere else.
func (r *stateReader) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, fmt.Errorf("a state that is fetched goes back to its start only, not to %d", offset)
	}
	if err := r.Close(); err != nil {
		return 0, err
	}
	now, err := r.open(r.ctx)
	if err != nil {
		return 0, err
	}
	r.now = now
	r.sum.Reset()
	return 0, nil
}

func (r *stateReader) Close() error {
	if r.now == nil {
		return nil
	}
	err := r.now.Close()
	r.now = nil
	return err
}
