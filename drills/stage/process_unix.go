//go:build unix

package stage

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// Detach gives a process a session of its own: a closed terminal reaches
// neither it nor its children.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Signals are those that an apply can be sent, by name.
func Signals() map[string]os.Signal {
	return map[string]os.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}
}

// SignalNames are their names, in order.
func SignalNames() []string { return slices.Sorted(maps.Keys(Signals())) }

// EndGroup kills what is left of the group that a process led, and reports
// whether nothing was. A group keeps its number while a member lives.
func EndGroup(leader int) (gone bool, err error) {
	if leader <= 1 {
		return false, errors.New("no group of the drill")
	}
	err = syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return true, nil
	}
	return false, err
}
