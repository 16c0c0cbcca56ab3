//go:build !unix

package tool

import (
	"os/exec"
	"time"
)

func ownGroup(cmd *exec.Cmd, grace time.Duration) { cmd.WaitDelay = grace }

func endGroup(*exec.Cmd) {}

func OwnSession(*exec.Cmd) {}
