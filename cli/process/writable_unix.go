//go:build unix

package process

import "golang.org/x/sys/unix"

// Writable asks the kernel, so that nothing has to be written to find out.
func Writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
