//go:build unix

package drills

import (
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
