//go:build unix

package process

import "golang.org/x/sys/unix"

// NoCore keeps handrail and what it starts from writing their memory into a
// file when they crash: it holds what is redacted everywhere else.
func NoCore() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // a lower limit is never refused
	}
}
