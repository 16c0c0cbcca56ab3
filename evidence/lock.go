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

func takeLock(bundle, boot string) (*lock, error) {
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
		holder, _ := os.ReadFile(name) // only for the message
		pid, _, _ := strings.Cut(string(holder), " ")
		if _, err := strconv.Atoi(pid); err != nil {
			pid = "unknown"
		}
		return nil, fmt.Errorf("%w: %q (pid %s); close it there, or follow it read-only", ErrLocked, bundle, pid)
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d %s\n", os.Getpid(), boot), 0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lock{f}, nil
}

func (l *lock) release() error { return l.f.Close() }
