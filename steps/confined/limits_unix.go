//go:build unix

package confined

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// confine gives up what the work does not need. With no descriptor left to open there is
// no file, no socket and no pipe, and so no program that Go could start.
func confine() error {
	for _, l := range []struct {
		what string
		of   int
		most uint64
	}{
		{"processor time", unix.RLIMIT_CPU, mostSeconds},
		{"memory", unix.RLIMIT_DATA, mostMemory},
		{"files that it writes", unix.RLIMIT_FSIZE, 0},
		{"files that it opens", unix.RLIMIT_NOFILE, 0},
	} {
		var had unix.Rlimit
		if err := unix.Getrlimit(l.of, &had); err != nil {
			return fmt.Errorf("limiting %s: %w", l.what, err)
		}
		to := unix.Rlimit{Cur: had.Cur, Max: had.Max}
		to.Cur = min(to.Cur, l.most)
		to.Max = min(to.Max, l.most)
		if err := unix.Setrlimit(l.of, &to); err != nil {
			return fmt.Errorf("limiting %s: %w", l.what, err)
		}
	}
	return nil
}
