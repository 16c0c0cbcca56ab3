// Package depot copies bundles to where a team keeps them, and from there: a
// directory, or a Store, which is a bucket or a repository of a registry.
//
// A copy lies in quarantine beside its place until it was verified from its own
// bytes; only then it gets its name. Nothing is ever overwritten.
//
// To a Store a bundle travels as one file, a tar with gzip as the package
// evidence describes it. The same bundle gives the same bytes, so that parts
// that a broken-off push left there are not sent again, and the Store holds each
// part to its SHA-256. The name appears in one step after the last part; then
// what lies there is read again.
package depot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"handrail/evidence"
)

var (
	// ErrUnverified: the bytes that arrived do not verify.
	ErrUnverified = errors.New("bundle does not verify")
	// ErrOther: a bundle of this id is there and has another history.
	ErrOther = errors.New("another bundle has this id")
	// ErrOlder: the bundle that is there is a beginning of the one to copy.
	ErrOlder = errors.New("an earlier copy of this bundle exists")
	// ErrBusy: another handrail copies the same bundle to the same place.
	ErrBusy = errors.New("another handrail is copying this bundle there")
)

// incoming is the directory, beside the bundles, of copies that are not verified.
const incoming = ".handrail-incoming"

// Receipt says what came of a copy.
type Receipt struct {
	Path    string // of the bundle in its new place
	Already bool   // it was there before, with the same contents
	Files   int
	Bytes   int64
}

// Receive copies the bundle src into the directory dest, which must exist. A
// copy that was broken off goes on where it was.
func Receive(ctx context.Context, src, dest string) (Receipt, error) {
	r, err := evidence.OpenReadOnly(src)
	if err != nil {
		return Receipt{}, err
	}
	id := r.Meta().ID
	if err := r.Close(); err != nil {
		return Receipt{}, err
	}
	info, err := os.Stat(dest)
	if err != nil {
		return Receipt{}, fmt.Errorf("the place for bundles: %w", err)
	}
	if !info.IsDir() {
		return Receipt{}, fmt.Errorf("the place for bundles, %q, is not a directory", dest)
	}
	out := Receipt{Path: filepath.Join(dest, id+".hrb")}
	if _, err := os.Lstat(out.Path); !errors.Is(err, os.ErrNotExist) {
		if err == nil {
			err = same(src, out.Path, out.Path)
		}
		out.Already = err == nil
		return out, err
	}
	waiting := filepath.Join(dest, incoming)
	if err := os.Mkdir(waiting, info.Mode().Perm()); err != nil && !errors.Is(err, os.ErrExist) {
		return out, fmt.Errorf("creating a quarantine: %w", err)
	}
	lock := flock.New(filepath.Join(waiting, id+".lock"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return out, errors.Join(fmt.Errorf("%w: %q", ErrBusy, out.Path), err)
	}
	defer lock.Close() // nothing was written to it
	part := filepath.Join(waiting, id)
	c := copier{ctx: ctx, mode: info.Mode().Perm()}
	if err := c.bundle(src, part); err != nil {
		return out, fmt.Errorf("copying to %q: %w", part, err)
	}
	out.Files, out.Bytes = c.files, c.bytes
	if err := verified(part, id); err != nil {
		return out, errors.Join(err, os.RemoveAll(part))
	}
	return out, publish(src, part, out.Path)
}

// publish gives a verified copy its name, unless something got there first.
func publish(src, part, final string) error {
	err := os.Rename(part, final)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, os.ErrExist) {
		if err := same(src, final, final); err != nil {
			return err
		}
		return os.RemoveAll(part)
	}
	if err != nil {
		return fmt.Errorf("giving the copy its name: %w", err)
	}
	return syncDir(filepath.Dir(final))
}

// verified holds a copy to its own bytes.
func verified(path, id string) error {
	v, err := evidence.Verify(path)
	if err != nil {
		return err
	}
	switch {
	case !v.OK():
		return fmt.Errorf("%w: %s", ErrUnverified, wrong(v))
	case v.ID != id:
		return fmt.Errorf("%w: it is %q, another one than %q", ErrUnverified, v.ID, id)
	}
	return nil
}

// wrong tells the properties that do not hold.
func wrong(v evidence.Report) string {
	var why []string
	for _, l := range v.Lines {
		if l.Verdict != evidence.Failed {
			continue
		}
		why = append(why, l.Property+": "+l.Detail)
		if l.Property == "tail" && strings.Contains(l.Detail, "torn") {
			why = append(why, "a handrail may be writing it: try again when it has finished")
		}
	}
	return strings.Join(why, "; ")
}

// same returns nil where the bundle at path has the contents of src, and says
// otherwise how they differ. name is what a person calls it.
func same(src, path, name string) error {
	there, err := evidence.Verify(path)
	if err != nil {
		return err
	}
	ours, err := evidence.Verify(src)
	if err != nil {
		return err
	}
	switch {
	case !ours.OK():
		return fmt.Errorf("%w: %s", ErrUnverified, wrong(ours))
	case !there.OK():
		return fmt.Errorf("%w: %q, which does not verify: %s", ErrOther, name, wrong(there))
	case there.ID == ours.ID && there.Root == ours.Root && there.Entries == ours.Entries:
		return nil
	}
	begins, err := hasEntry(src, there.Entries-1, there.Head)
	if err != nil {
		return err
	}
	if begins {
		return fmt.Errorf("%w: %q has %d of its %d entries", ErrOlder, name, there.Entries, ours.Entries)
	}
	return fmt.Errorf("%w: %q has root %s of %d entries, and %q has root %s of %d", ErrOther,
		name, there.Root, there.Entries, src, ours.Root, ours.Entries)
}

// hasEntry reports whether the entry numbered seq of a bundle has this hash.
func hasEntry(path string, seq int64, hash string) (bool, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	for e, err := range r.Entries() {
		if err != nil || e.Seq == seq {
			return err == nil && e.Hash == hash, err
		}
	}
	return false, nil
}
