//go:build !unix

package cli

import "os/exec"

// apart has nothing to do where processes have no controlling terminal.
func apart(*exec.Cmd) {}
