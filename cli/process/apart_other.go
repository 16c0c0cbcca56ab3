//go:build !unix

package process

import "os/exec"

// Apart has nothing to do where processes have no controlling terminal.
func Apart(*exec.Cmd) {}
