//go:build !unix

package drills

import (
	"errors"
	"os"
	"os/exec"
)

// Drills start and end groups of processes, which is only written for Unix.

func detach(*exec.Cmd) {}

func signals() map[string]os.Signal { return map[string]os.Signal{"KILL": os.Kill} }

func signalNames() []string { return []string{"HUP", "INT", "KILL", "TERM"} }

func startMark(int) string { return "" }

func killed(rec record) (int, error) {
	if len(rec.Processes) == 0 {
		return 0, nil
	}
	return 0, errors.New("ending the processes of a drill is not supported on this system")
}

func endGroup(int) (bool, error) {
	return false, errors.New("ending the processes of a drill is not supported on this system")
}
