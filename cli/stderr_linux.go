package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// become makes the descriptor of f mean what to means.
func become(f, to *os.File) error { return unix.Dup3(int(to.Fd()), int(f.Fd()), 0) }
