//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// turnsAside says whether a descriptor can be given another meaning.
const turnsAside = true

// duplicate is another descriptor for what f means, which no child inherits.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
