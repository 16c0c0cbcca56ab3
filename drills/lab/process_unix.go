//go:build unix && !linux

package lab

import (
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Listeners are not known here: the flags of the servers are all there is.
func Listeners(int) ([]netip.Addr, error) { return nil, nil }

func dieWithUs(*syscall.SysProcAttr) {}

// bootID is not needed where start times are calendar times.
func bootID() string { return "" }

// startMark is the start time as ps prints it, empty when no such process runs.
func startMark(pid int) string { return ps(pid, "lstart=") }

// memory is what a process has resident, in bytes, 0 when unknown.
func memory(pid int) int64 {
	kib, err := strconv.ParseInt(ps(pid, "rss="), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

func ps(pid int, column string) string {
	out, err := exec.Command("ps", "-o", column, "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
