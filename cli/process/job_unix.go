//go:build unix

package process

import "syscall"

// InterruptJob is a Ctrl-C that was not typed: the whole job hears it, a
// credential plugin as well, which client-go cannot be told to end.
func InterruptJob() bool { return syscall.Kill(0, syscall.SIGINT) == nil }
