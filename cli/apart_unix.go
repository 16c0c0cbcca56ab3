//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// apart gives a process a session of its own, which no terminal ends.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
