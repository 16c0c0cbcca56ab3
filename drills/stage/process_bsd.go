//go:build unix && !linux

package stage

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// StartMark tells a process from a later one with its pid.
func StartMark(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Kill ends the groups that the drill's processes lead and returns how many
// were there. A group keeps its number while a member lives; a leader whose
// start differs is a stranger with a used number.
func Kill(rec Record) (int, error) {
	found := 0
	for _, p := range rec.Processes {
		if now := StartMark(p.PID); p.PID <= 1 || now != "" && now != p.Start {
			continue
		}
		err := syscall.Kill(-p.PID, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return found, err
		}
		found++
	}
	return found, nil
}
