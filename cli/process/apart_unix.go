//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// Apart gives a process a session of its own, which no terminal ends.
func Apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
