package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootID is made by the kernel at each start, and is one of a kind.
func bootID() string { return sysctl("kern.bootsessionuuid") }

// machineID has no short way to be asked; the boot is one of a kind all the same.
func machineID() string { return "" }

func sysctl(name string) string {
	v, err := unix.Sysctl(name)
	if err != nil {
		return ""
	}
	return v
}

// sinceBoot goes on while the machine sleeps: so does this clock here.
func sinceBoot() time.Duration { return clockOf(unix.CLOCK_MONOTONIC) }
