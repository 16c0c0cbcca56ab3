//go:build unix

package steps

import "syscall"

// Nonblock keeps the opening of a pipe from waiting for its other end.
const Nonblock = syscall.O_NONBLOCK
