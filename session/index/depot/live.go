package depot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"handrail/evidence"
)

// Replacer is a Store that also keeps such copies. A copy is the one thing that is
// ever replaced there, and only by a bundle that goes on from it.
type Replacer interface {
	Store
	// Replace stores a bundle under a name in one step, in place of what was found
	// there; the zero Stored is nothing. It returns ErrTaken where something else is
	// there by now, as far as the other side can tell.
	Replace(ctx context.Context, name string, p *Package, was BundleInfo) error
}

// PushLive sends the bundle src as it is now, which may be while it is written. last
// is what an earlier PushLive returned, zero at first: of that copy it is known that
// src goes on from it, and any other one is read to find out.
func PushLive(ctx context.Context, src, work string, to Replacer, last BundleInfo) (_ BundleInfo, err error) {
	defer func() { err = discreet(err, to) }()
	p, err := Pack(ctx, src, work)
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	name := Live(p.ID)
	was, err := to.Find(ctx, name)
	switch {
	case errors.Is(err, ErrNone):
		was = BundleInfo{}
	case err != nil:
		return last, err
	case was.Version != last.Version:
		if err := p.compare(ctx, src, to, was); err != nil && !errors.Is(err, ErrOlder) {
			return last, err
		}
	}
	if err := to.Replace(ctx, name, p, was); err != nil {
		return last, fmt.Errorf("sending to %q: %w", to.Place(name), err)
	}
	there, err := findSent(ctx, to, name, true)
	if err != nil {
		return last, fmt.Errorf("looking for what was sent: %w", err)
	}
	return there, nil
}

// Watch looks for the newest copy of a bundle in a Store, and keeps the newest ones
// that it fetched in a directory of its own. It is not for use by several
// goroutines.
type Watch struct {
	From Store
	ID   string
	Dir  string // exists, and holds nothing else

	version string
	n       int
}

// Look fetches the newest copy where it is another one than before: the whole bundle,
// or as long as there is none, the copy of one that is still written. What it
// fetched was verified. The path is "" where nothing is new. Of what was fetched
// before, only the last one is kept.
func (w *Watch) Look(ctx context.Context) (path string, there BundleInfo, err error) {
	defer func() { err = discreet(err, w.From) }()
	there, err = w.From.Find(ctx, w.ID)
	if errors.Is(err, ErrNone) {
		there, err = w.From.Find(ctx, Live(w.ID))
	}
	if err != nil || there.ID+there.Version == w.version {
		return "", there, err
	}
	into := filepath.Join(w.Dir, strconv.Itoa(w.n+1))
	if err := errors.Join(os.RemoveAll(into), os.Mkdir(into, 0o700)); err != nil {
		return "", there, err
	}
	if path, err = w.fetch(ctx, there, into); err != nil {
		return "", there, errors.Join(err, os.RemoveAll(into))
	}
	w.version, w.n = there.ID+there.Version, w.n+1
	return path, there, os.RemoveAll(filepath.Join(w.Dir, strconv.Itoa(w.n-2)))
}

func (w *Watch) fetch(ctx context.Context, there BundleInfo, into string) (string, error) {
	name := filepath.Join(into, "packed")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // thrown away
	if err := fetch(ctx, w.From, there, 0, f, nil); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return "", err
	}
	path, err := evidence.Unpack(f, into)
	if err != nil {
		return "", fmt.Errorf("%q: %w: %w", there.Place, ErrUnverified, err)
	}
	if err := verified(path, w.ID); err != nil {
		return "", fmt.Errorf("%q: %w", there.Place, err)
	}
	return path, os.Remove(name)
}
