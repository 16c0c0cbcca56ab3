//go:build !unix

package terraform

import (
	"os/exec"
	"time"
)

func ownGroup(cmd *exec.Cmd, grace time.Duration) { cmd.WaitDelay = grace }

func endGroup(*exec.Cmd) {}

func ownSession(*exec.Cmd) {}
