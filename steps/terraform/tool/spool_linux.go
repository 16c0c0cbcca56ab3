package tool

import (
	"os"

	"golang.org/x/sys/unix"
)

// MemoryFile makes a file in memory: what a program says is on no disk before it
// was redacted.
func MemoryFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("handrail", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "output"), nil
}

// forget gives back the memory of what was read.
func (s *Spool) forget() {
	if s.at > 0 {
		_ = unix.Fallocate(int(s.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, s.at)
	}
}
