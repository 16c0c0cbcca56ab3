//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// TurnsAside says whether a descriptor can be given another meaning.
const TurnsAside = true

// Duplicate is another descriptor for what f means, which no child inherits.
func Duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
