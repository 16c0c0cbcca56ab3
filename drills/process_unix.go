//go:build unix

package drills

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
)

// detach gives a process a session of its own: a closed terminal reaches
// neither it nor its children.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func signals() map[string]os.Signal {
	return map[string]os.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}
}

func signalNames() []string { return slices.Sorted(maps.Keys(signals())) }

// endGroup kills what is left of the group that a process led, and reports
// whether nothing was. A group keeps its number while a member lives.
func endGroup(leader int) (gone bool, err error) {
	if leader <= 1 {
		return false, errors.New("no group of the drill")
	}
	err = syscall.Kill(-leader, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return true, nil
	}
	return false, err
}
