package depot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"handrail/evidence"
)

// Pull brings a bundle of a Store into the directory dest, which must exist. A
// pull that was broken off goes on where it was.
func Pull(ctx context.Context, from Store, id, dest string, tell Progress) (_ Receipt, err error) {
	defer func() { err = discreet(err, from) }()
	there, err := from.Find(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	info, err := os.Stat(dest)
	if err != nil {
		return Receipt{}, fmt.Errorf("the place for bundles: %w", err)
	}
	waiting := filepath.Join(dest, incoming)
	if err := os.Mkdir(waiting, info.Mode().Perm()); err != nil && !errors.Is(err, os.ErrExist) {
		return Receipt{}, fmt.Errorf("creating a quarantine: %w", err)
	}
	lock := flock.New(filepath.Join(waiting, id+".pull.lock"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return Receipt{}, errors.Join(fmt.Errorf("%w: %q", ErrBusy, dest), err)
	}
	defer lock.Close() // nothing was written to it
	packed, err := download(ctx, from, there, waiting, tell)
	if err != nil {
		return Receipt{}, err
	}
	into := filepath.Join(waiting, id+".unpacked")
	if err := errors.Join(os.RemoveAll(into), os.Mkdir(into, 0o700)); err != nil {
		return Receipt{}, err
	}
	out, err := receivePacked(ctx, packed, into, id, dest)
	if errors.Is(err, ErrUnverified) {
		err = fmt.Errorf("%q: %w", there.Place, err)
	}
	return out, errors.Join(err, os.RemoveAll(into), os.Remove(packed))
}

// receivePacked unpacks within the bounds for a stranger's archive, and lets in
// what verifies.
func receivePacked(ctx context.Context, packed, into, id, dest string) (Receipt, error) {
	f, err := os.Open(packed)
	if err != nil {
		return Receipt{}, err
	}
	defer f.Close()
	path, err := evidence.Unpack(f, into)
	if err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrUnverified, err)
	}
	if err := verified(path, id); err != nil {
		return Receipt{}, err
	}
	return Receive(ctx, path, dest)
}

// download fetches into a file whose name follows from what is fetched, and goes
// on where an earlier one ended.
func download(ctx context.Context, from Store, there BundleInfo, waiting string, tell Progress) (string, error) {
	sum := sha256.Sum256([]byte(there.Place + "\n" + there.Version))
	name := filepath.Join(waiting, there.ID+"-"+hex.EncodeToString(sum[:8])+".part")
	old, _ := filepath.Glob(filepath.Join(waiting, there.ID+"-????????????????.part"))
	for _, o := range old {
		if o != name {
			_ = os.Remove(o) // of something that is there no more
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close() // its length is looked at below
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	at := info.Size()
	if !info.Mode().IsRegular() || at > there.Size {
		return "", errors.Join(fmt.Errorf("%q was not left by an earlier pull; it was removed, try again", name), os.Remove(name))
	}
	if at < there.Size {
		if err := fetch(ctx, from, there, at, f, tell); err != nil {
			if errors.Is(err, ErrUnverified) {
				err = errors.Join(err, os.Remove(name))
			}
			return "", err
		}
	}
	return name, f.Sync()
}
