package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/evidence/disk"
	"handrail/evidence/redact"
)

const (
	maxBlob    = 2 << 30
	tempPrefix = ".tmp-"
)

// BlobWriter takes the raw bytes of one artifact and stores them redacted. It is not safe for concurrent use. End it
// with Commit or Abort; Abort after Commit does nothing.
type BlobWriter struct {
	b     *Bundle
	blob  Blob
	in    redact.Artifact
	out   *blobFile
	name  string
	ended bool
	err   error
}

// Blob starts an artifact. The media type chooses structure-aware redaction; see the package documentation.
func (b *Bundle) Blob(role, media string) (*BlobWriter, error) {
	b.mu.Lock()
	dead := b.dead
	if b.closed && dead == nil {
		dead = fmt.Errorf("%w: it was closed", ErrDead)
	}
	b.temp++
	name := filepath.Join(b.path, "blobs", "sha256", fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), b.temp))
	b.mu.Unlock()
	if dead != nil {
		return nil, dead
	}
	f, err := b.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("new blob in %q: %w", b.path, err)
	}
	out := &blobFile{f: f, sum: sha256.New()}
	return &BlobWriter{
		b: b, blob: Blob{Role: role, Media: media}, out: out, name: name,
		in: b.red.Artifact(media, out),
	}, nil
}

// Write redacts and stores p. What goes over 2 GiB is dropped and the blob marked truncated.
func (w *BlobWriter) Write(p []byte) (int, error) {
	if w.ended {
		return 0, errors.New("blob was already ended")
	}
	if w.err != nil {
		return 0, w.err
	}
	if _, err := w.in.Write(p); err != nil {
		w.err = w.explain(err)
		return 0, w.err
	}
	return len(p), nil
}

// Truncated marks the blob as cut short by its source.
func (w *BlobWriter) Truncated() { w.blob.Truncated = true }

// Commit makes the blob durable and returns what an entry needs to name it.
func (w *BlobWriter) Commit() (Blob, error) {
	if w.ended {
		return Blob{}, errors.New("blob was already ended")
	}
	if err := w.finish(); err != nil {
		w.Abort()
		return Blob{}, w.explain(err)
	}
	return w.blob, nil
}

func (w *BlobWriter) finish() error {
	if w.err != nil {
		return w.err
	}
	rules, err := w.in.Close()
	if err != nil {
		return err
	}
	w.blob.Rules = rules
	w.blob.Size = w.out.size
	w.blob.Truncated = w.blob.Truncated || w.out.full
	w.blob.SHA256 = hex.EncodeToString(w.out.sum.Sum(nil))
	if err := w.out.f.Sync(); err != nil {
		return err
	}
	if err := w.out.f.Chmod(0o400); err != nil {
		return err
	}
	if err := w.out.close(); err != nil {
		return err
	}
	w.ended = true
	return w.b.place(w.name, w.blob.SHA256)
}

// place gives a finished blob its name. An equal one that is already there is used once its bytes are proven; a wrong
// one is moved to quarantine/ and recorded.
func (b *Bundle) place(temp, sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.placeLocked(temp, sum)
}

func (b *Bundle) placeLocked(temp, sum string) error {
	final := b.BlobPath(sum)
	dir := filepath.Dir(final)
	if err := b.fs.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// A directory that is there may be one whose name did not become durable when it was made.
	if !b.fanned[sum[:2]] {
		if err := b.fs.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
		if b.fanned == nil {
			b.fanned = map[string]bool{}
		}
		b.fanned[sum[:2]] = true
	}
	old, err := b.hashFile(final)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && old == sum:
		if err := b.fs.Remove(temp); err != nil {
			return err
		}
		return b.fs.SyncDir(dir) // its name, too, may be from an attempt that broke off
	case err != nil:
		return err
	default:
		bad := filepath.Join(b.path, "quarantine", fmt.Sprintf("%d-%s.bin", b.chain.next, old))
		if err := b.fs.Rename(final, bad); err != nil {
			return err
		}
		if err := b.fs.SyncDir(filepath.Dir(bad)); err != nil {
			return err
		}
		defer func() { b.alarmBlob(sum, old) }()
	}
	if err := b.fs.Rename(temp, final); err != nil {
		return err
	}
	return b.fs.SyncDir(dir)
}

// alarmBlob records a stored blob whose bytes had changed. A failure shows as a dead bundle at the next Append.
func (b *Bundle) alarmBlob(sum, old string) {
	seq := b.chain.next
	b.mu.Unlock()
	defer b.mu.Lock()
	_, _ = b.append(Draft{Type: "recover", Actor: "system", Data: recovered{
		Segment: "", Offset: "0", Length: "0", SHA256: old, File: fmt.Sprintf("quarantine/%d-%s.bin", seq, old), Alarm: true,
		Why: "ALARM, blob " + sum + " had other bytes than its name says",
	}})
}

func (b *Bundle) hashFile(name string) (string, error) {
	f, err := b.fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, io.LimitReader(f, maxBlob+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Abort drops the artifact.
func (w *BlobWriter) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	_ = w.out.close()
	_ = w.b.fs.Remove(w.name) // left behind, it is removed by the next Open
}

func (w *BlobWriter) explain(err error) error {
	return fmt.Errorf("blob %s in %q is not kept, the journal is untouched: %w", w.blob.Role, w.b.path, err)
}

// blobFile counts and hashes what reaches the disk.
type blobFile struct {
	f      disk.File
	sum    hash.Hash
	size   int64
	full   bool
	closed bool
}

func (o *blobFile) Write(p []byte) (int, error) {
	all := len(p)
	if o.size+int64(all) > maxBlob {
		p, o.full = p[:maxBlob-o.size], true
	}
	n, err := o.f.Write(p)
	o.sum.Write(p[:n])
	o.size += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return n, err
	}
	return all, nil
}

func (o *blobFile) close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	return o.f.Close()
}

// BlobPath is the file of a blob that is in the bundle.
func (b *Bundle) BlobPath(sum string) string {
	return filepath.Join(b.path, "blobs", "sha256", sum[:2], sum)
}
