//go:build unix

package cli

import "golang.org/x/sys/unix"

// noCore keeps handrail and what it starts from writing their memory into a
// file when they crash: it holds what is redacted everywhere else.
func noCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // a lower limit is never refused
	}
}
