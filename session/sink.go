package session

import (
	"context"
	"io"
	"sync"

	"handrail/evidence"
)

// shownLines is how many lines of progress a running step keeps.
const shownLines = 200

// sink takes what one run of a step wants kept. Artifacts become blobs of the
// entry that ends the run.
type sink struct {
	s    *Session
	step string

	mu    sync.Mutex
	blobs []evidence.Blob
	open  map[*artifact]bool
	err   error
}

// Artifact opens a raw artifact; it is redacted on its way to the disk.
func (k *sink) Artifact(role, media string) io.WriteCloser {
	w, err := k.s.bundle.Blob(role, media)
	k.mu.Lock()
	defer k.mu.Unlock()
	a := &artifact{k: k, w: w, err: err}
	if err != nil {
		k.err = err
		return a
	}
	if k.open == nil {
		k.open = map[*artifact]bool{}
	}
	k.open[a] = true
	return a
}

// Line shows a line of progress.
func (k *sink) Line(text string) {
	line := k.s.bundle.Redact(text)
	_ = k.s.call(context.Background(), func() error {
		f := k.s.flight[k.step]
		if f == nil {
			return nil
		}
		f.lines = append(f.lines, line)
		if over := len(f.lines) - shownLines; over > 0 {
			f.lines = append([]string(nil), f.lines[over:]...)
		}
		k.s.redraw()
		return nil
	})
}

// Secret names a value that must not be stored from now on.
func (k *sink) Secret(value string) { k.s.bundle.Secret(value) }

// done returns the blobs that were closed, dropping what a failed run left
// half written.
func (k *sink) done() ([]evidence.Blob, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for a := range k.open {
		a.w.Abort()
	}
	return k.blobs, k.err
}

type artifact struct {
	k      *sink
	w      *evidence.BlobWriter
	err    error
	closed bool
}

func (a *artifact) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.w.Write(p)
	if err != nil {
		a.err = err
	}
	return n, err
}

func (a *artifact) Close() error {
	if a.closed || a.w == nil {
		return a.err
	}
	a.closed = true
	a.k.mu.Lock()
	defer a.k.mu.Unlock()
	delete(a.k.open, a)
	if a.err != nil {
		a.w.Abort()
		a.k.err = a.err
		return a.err
	}
	b, err := a.w.Commit()
	if err != nil {
		a.err, a.k.err = err, err
		return err
	}
	a.k.blobs = append(a.k.blobs, b)
	return nil
}
