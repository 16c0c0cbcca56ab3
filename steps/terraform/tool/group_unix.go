//go:build unix

package tool

import (
	"os/exec"
	"syscall"
	"time"
)

// ownGroup puts the child into a process group of its own, so that a Ctrl-C on
// the terminal does not reach it; cancelling sends that group one interrupt and,
// after grace, ends it.
func ownGroup(cmd *exec.Cmd, grace time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = grace
}

// endGroup ends what is left of the child's group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// OwnSession puts the child into a session of its own: no terminal, no Ctrl-C and
// no end of its parent reaches it.
func OwnSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
