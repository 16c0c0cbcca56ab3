//go:build !unix

package terraform

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

const nonblock = 0

func writeLocked(*os.File) (bool, int, error) {
	return false, 0, errors.New("this system has no POSIX locks: the lock cannot be read")
}

func writeLock(*os.File) error {
	return errors.New("this system has no POSIX locks")
}

func ownGroup(cmd *exec.Cmd, grace time.Duration) { cmd.WaitDelay = grace }

func endGroup(*exec.Cmd) {}

func ownSession(*exec.Cmd) {}
