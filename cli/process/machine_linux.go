package process

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is made by the kernel at each start, and is one of a kind.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func machineID() string {
	b, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return "" // a container may have none; the boot is one of a kind all the same
	}
	return string(b)
}

// sinceBoot goes on while the machine sleeps.
func sinceBoot() time.Duration { return clockOf(unix.CLOCK_BOOTTIME) }
