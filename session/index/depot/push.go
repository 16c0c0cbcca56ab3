package depot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"handrail/evidence"
)

// Push sends the bundle src to a Store, packed in the directory work. A push
// that was broken off goes on where it was.
func Push(ctx context.Context, src, work string, to Store, tell Progress) (_ Receipt, err error) {
	defer func() { err = discreet(err, to) }()
	p, err := Pack(ctx, src, work)
	if err != nil {
		return Receipt{}, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	out := Receipt{Path: to.Place(p.ID), Files: p.files, Bytes: p.Size}
	if there, err := to.Find(ctx, p.ID); err == nil {
		out.Already = true
		return out, p.compare(ctx, src, to, there)
	} else if !errors.Is(err, ErrNone) {
		return out, err
	}
	sent := to.Send(ctx, p, tell)
	there, err := findSent(ctx, to, p.ID, sent == nil || errors.Is(sent, ErrTaken))
	switch {
	case sent == nil:
	case err == nil:
		out.Already = true // by another push, a moment ago
	case errors.Is(sent, ErrTaken) && errors.Is(err, ErrNone):
		return out, fmt.Errorf("%w: %q", ErrBusy, out.Path)
	default:
		return out, fmt.Errorf("sending to %q: %w", out.Path, sent)
	}
	if err != nil {
		return out, fmt.Errorf("reading again what was sent: %w", err)
	}
	if err := p.compare(ctx, src, to, there); err != nil {
		return out, fmt.Errorf("reading again what was sent: %w", err)
	}
	return out, nil
}

// findSent looks for what was just sent, by this push or by another one that took the
// name. A listing may come to know of it a moment later, and while a rival replaces it a
// server may show neither.
func findSent(ctx context.Context, to Store, id string, must bool) (BundleInfo, error) {
	for wait := 100 * time.Millisecond; ; wait *= 2 {
		there, err := to.Find(ctx, id)
		if !must || !errors.Is(err, ErrNone) || wait > 5*time.Second {
			return there, err
		}
		select {
		case <-ctx.Done():
			return there, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// compare returns nil where the Store has the same contents, and says otherwise
// how they differ. Other bytes can be the same bundle, packed elsewhere.
func (p *Package) compare(ctx context.Context, src string, to Store, there BundleInfo) error {
	name := filepath.Join(p.dir, "there")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // thrown away
	sum := sha256.New()
	if err := fetch(ctx, to, there, 0, io.MultiWriter(f, sum), nil); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) == p.SHA256 {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	into := filepath.Join(p.dir, "other")
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	path, err := evidence.Unpack(f, into)
	if err != nil {
		return fmt.Errorf("%w: %q, which does not verify: %w", ErrOther, there.Place, err)
	}
	return same(src, path, there.Place)
}

// fetch reads what was found, and no more than it said it has.
func fetch(ctx context.Context, from Store, s BundleInfo, at int64, to io.Writer, tell Progress) error {
	if s.Size > maxBytes {
		return fmt.Errorf("%w: %q has %d bytes, over what a bundle may hold", ErrUnverified, s.Place, s.Size)
	}
	body, err := open(ctx, from, s, at)
	if err != nil {
		return fmt.Errorf("reading %q: %w", s.Place, err)
	}
	defer body.Close()
	n, err := io.Copy(&progressWriter{w: to, done: at, total: s.Size, tell: tell}, io.LimitReader(body, s.Size-at+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading %q: %w", s.Place, err)
	case at+n < s.Size:
		return fmt.Errorf("reading %q: it ended after %d of %d bytes: %w", s.Place, at+n, s.Size, io.ErrUnexpectedEOF)
	case at+n > s.Size:
		return fmt.Errorf("%w: %q has more than the %d bytes that it says", ErrUnverified, s.Place, s.Size)
	}
	return nil
}

// progressWriter reports what goes through it.
type progressWriter struct {
	w           io.Writer
	done, total int64
	tell        Progress
}

func (t *progressWriter) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if t.done += int64(n); t.tell != nil {
		t.tell(t.done, t.total)
	}
	return n, err
}
