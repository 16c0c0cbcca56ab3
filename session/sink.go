package session

import (
	"context"
	"io"
	"strings"
	"sync"

	"handrail/evidence"
	"handrail/steps"
)

// shownLines is how many lines of progress a running step keeps.
const shownLines = 200

// sink takes what one run of a step wants kept. Artifacts become blobs of the
// entry that ends the run.
type sink struct {
	s    *Session
	step string
	tell func(line string) // where lines go instead of to the owner, in an executor

	mu    sync.Mutex
	blobs []evidence.Blob
	open  map[*artifact]bool
	err   error
	said  string // what was printed last, raw: a line is judged with what stands before it
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
	line := k.judged(text)
	if k.tell != nil {
		k.tell(line)
		return
	}
	k.s.progress(k.step, line)
}

// progress shows lines that a running step said.
func (s *Session) progress(step string, lines ...string) {
	_ = s.call(context.Background(), func() error {
		f := s.flight[step]
		if f == nil {
			return nil
		}
		for _, l := range lines {
			f.log.Print(l)
		}
		f.lines = append(f.lines, lines...)
		if over := len(f.lines) - shownLines; over > 0 {
			f.lines = append([]string(nil), f.lines[over:]...)
		}
		s.showRunning()
		return nil
	})
}

// saidMost is how much of what was printed before stands beside a line while it
// is redacted: a secret may go over several.
const saidMost = 4 << 10

// judged is a text as it may be shown, with regard to what was printed before.
func (k *sink) judged(text string) string {
	k.mu.Lock()
	before := k.said
	k.said = before + text + "\n"
	if over := len(k.said) - saidMost; over > 0 {
		k.said = k.said[over:]
		if nl := strings.IndexByte(k.said, '\n'); nl >= 0 {
			k.said = k.said[nl+1:]
		}
	}
	k.mu.Unlock()
	lines := strings.Split(k.s.bundle.Redact(before+text), "\n")
	return strings.Join(lines[max(0, len(lines)-1-strings.Count(text, "\n")):], "\n")
}

// Secret names a value that must not be stored from now on.
func (k *sink) Secret(value string) { k.s.secret(value) }

var _ steps.SchemaSink = (*sink)(nil)

// Sensitive names attributes of resources that must not be stored from now on.
func (k *sink) Sensitive(paths map[string][]string) { k.s.bundle.Sensitive(paths) }

var _ steps.RedactingSink = (*sink)(nil)

// Redacted returns raw as an artifact of media would hold it.
func (k *sink) Redacted(media string, raw []byte) ([]byte, error) {
	return k.s.bundle.RedactArtifact(media, raw)
}

// newest is the hash of the newest artifact of a role, "" for none.
func (k *sink) newest(role string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.blobs) - 1; i >= 0; i-- {
		if k.blobs[i].Role == role {
			return k.blobs[i].SHA256
		}
	}
	return ""
}

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
