package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// DefaultLinger is how long an ephemeral lab outlives its last lease.
const DefaultLinger = 15 * time.Minute

// ErrNotRunning says that there is no lab in the data directory, or one that is not ready.
var ErrNotRunning = errors.New("the lab is not running: start it with `handrail lab up`")

// Options say which lab is meant. The zero value is the one lab of this user.
type Options struct {
	// Cache is where binaries and, by default, data live; empty means handrail's folder in the user's cache directory.
	Cache string
	// Dir is the data directory; empty means "lab" in Cache. Tests use their own and share the binaries.
	Dir string
	// Source is the clone of handrail that holds lab/go.mod; empty means that of SourceVariable, then what the
	// program stands in or beside, then the one around the working directory.
	Source string
	// Ephemeral marks a lab that ends by itself Linger after its last lease. Asking for a lasting lab while an
	// ephemeral one runs makes it last.
	Ephemeral bool
	Linger    time.Duration // 0 means DefaultLinger
	// Bare wants the cluster alone: tofu is not built for it, and known only where it is there.
	Bare bool
	// Lease, when set, names a lease that Up takes before the lab can expire; Lab.Close releases it.
	Lease string
	// Progress, when set, is told what happens; it is called from one goroutine at a time and must not block.
	Progress func(Progress)

	ports func(n int) ([]int, error) // tests hand out taken ones
}

func (o Options) filled() (Options, error) {
	if o.Cache == "" {
		dir, err := cacheDir()
		if err != nil {
			return o, err
		}
		o.Cache = dir
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(o.Cache, "lab")
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, fmt.Errorf("data directory of the lab: %w", err)
	}
	if o.Linger == 0 {
		o.Linger = DefaultLinger
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.ports == nil {
		o.ports = freePorts
	}
	return o, nil
}

// ForTests describes the lab that the tests of all packages share: ephemeral, apart from the user's own. The name is
// that of the lease.
func ForTests(name string) (Options, error) {
	cache, err := cacheDir()
	return Options{Cache: cache, Dir: filepath.Join(cache, "lab-test"), Ephemeral: true, Lease: name}, err
}

// cacheDir honours XDG_CACHE_HOME on every system, which os.UserCacheDir does not on macOS.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "handrail"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the lab: %w; set XDG_CACHE_HOME to an absolute path", err)
	}
	return filepath.Join(dir, "handrail"), nil
}
