package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// Become makes the descriptor of f mean what to means.
func Become(f, to *os.File) error { return unix.Dup3(int(to.Fd()), int(f.Fd()), 0) }
