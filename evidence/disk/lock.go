package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// ErrLocked says that another handrail has the bundle open for writing.
var ErrLocked = errors.New("bundle is open in another handrail")

// Lock keeps a second writer out. The kernel drops it when the process ends in whatever way; the text in the file only
// tells people who has it.
type Lock struct{ f *flock.Flock }

// TakeLock takes the lock of a bundle, or says who has it: ErrLocked. boot and host are written down beside the process.
func TakeLock(bundle, boot, host string) (*Lock, error) {
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
		return nil, fmt.Errorf("%w: %q, %s; nothing was changed; read it meanwhile with `handrail bundle show`, and continue once it is closed there",
			ErrLocked, bundle, holder(name))
	}
	if err := os.WriteFile(name, fmt.Appendf(nil, "%d %s %s\n", os.Getpid(), boot, host), 0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// holder says who has the lock, by the word of the file.
func holder(name string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|NoFollow, 0)
	if err != nil {
		return "by an unknown process"
	}
	defer f.Close()
	var buf [512]byte
	n, _ := f.Read(buf[:])
	words := strings.Fields(string(buf[:n]))
	if len(words) == 0 {
		return "by an unknown process"
	}
	if _, err := strconv.Atoi(words[0]); err != nil {
		return "by an unknown process"
	}
	if len(words) < 3 {
		return "by process " + words[0]
	}
	return fmt.Sprintf("by process %s on host %q", words[0], strings.Join(words[2:], " "))
}

// Release lets the next writer in.
func (l *Lock) Release() error { return l.f.Close() }
