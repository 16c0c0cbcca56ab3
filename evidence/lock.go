package evidence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lock keeps a second writer out. The kernel drops it when the process ends in whatever way; the text in the file only
// tells people who has it.
type lock struct{ f *flock.Flock }

// takeLock takes the lock, and owes the journal a word where a lock and a sync may mean nothing.
func (b *Bundle) takeLock() (err error) {
	if b.opts.noLock {
		return nil
	}
	if b.lock, err = takeLock(b.path, b.opts); err != nil {
		return err
	}
	if kind := remoteFS(b.path); kind != "" {
		b.remote = kind
		b.owe("filesystem", kind)
	}
	return nil
}

// owe lets an env entry say this before the next entry.
func (b *Bundle) owe(key, value string) {
	if b.owed == nil {
		b.owed = map[string]string{}
	}
	b.owed[key] = value
}

// Warning says what the operator should know about the place of the bundle, "" for nothing.
func (b *Bundle) Warning() string { return warning(b.path, b.remote) }

// PlaceWarning says the same of a directory before a bundle is made in it.
func PlaceWarning(dir string) string { return warning(dir, remoteFS(dir)) }

func warning(path, kind string) string {
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("%q is on a network or shared file system (%s): another host may write a bundle there at the same time, and "+
		"what was synced may still be lost; keep it on a local disk", path, kind)
}

func takeLock(bundle string, o Options) (*lock, error) {
	name := filepath.Join(bundle, "lock")
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("lock %q is not a regular file", name)
	}
	f := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %q: %w", name, err)
	}
	if !ok {
		return nil, fmt.Errorf("%w: %q, %s; nothing was changed; read it meanwhile with `handrail bundle show`, and go on once it is closed there",
			ErrLocked, bundle, holder(name))
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d %s %s\n", os.Getpid(), o.Boot, o.Host), 0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{f}, nil
}

// holder says who has the lock, by the word of the file.
func holder(name string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|openNoFollow, 0)
	if err != nil {
		return "by a process that is not known"
	}
	defer f.Close() //nolint:errcheck // only read from
	var buf [512]byte
	n, _ := f.Read(buf[:])
	words := strings.Fields(string(buf[:n]))
	if len(words) == 0 {
		return "by a process that is not known"
	}
	if _, err := strconv.Atoi(words[0]); err != nil {
		return "by a process that is not known"
	}
	if len(words) < 3 {
		return "by process " + words[0]
	}
	return fmt.Sprintf("by process %s on host %q", words[0], strings.Join(words[2:], " "))
}

func (l *lock) release() error { return l.f.Close() }
