//go:build unix

package module

import (
	"io"
	"os"
	"syscall"
)

// WriteLocked asks the kernel who would refuse a write lock on f. It takes
// none, and needs no more than read access.
func WriteLocked(f *os.File) (held bool, pid int, err error) {
	lk := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lk); err != nil {
		return false, 0, err
	}
	if lk.Type == syscall.F_UNLCK {
		return false, 0, nil
	}
	// The kernel says 0 or less for a holder in another PID namespace or host.
	return true, max(0, int(lk.Pid)), nil
}

// WriteLock takes the write lock on f, as the programs do, or says that another process
// holds it. It ends with any handle on the file that this process closes.
func WriteLock(f *os.File) error {
	return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart})
}
