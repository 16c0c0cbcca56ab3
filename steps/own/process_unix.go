//go:build unix

package own

import (
	"io/fs"
	"os/exec"
	"syscall"
)

// executable reports whether a file may be run.
func executable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// ownSession takes the program off the terminal, whose keys it could read and on which
// it could write, and makes it the head of a group that is killed as one.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr)
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
