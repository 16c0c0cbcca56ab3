//go:build !unix

package stage

import (
	"errors"
	"os"
	"os/exec"
)

// Drills start and end groups of processes, which is only written for Unix.

func Detach(*exec.Cmd) {}

func Signals() map[string]os.Signal { return map[string]os.Signal{"KILL": os.Kill} }

func SignalNames() []string { return []string{"HUP", "INT", "KILL", "TERM"} }

func StartMark(int) string { return "" }

func Kill(rec Record) (int, error) {
	if len(rec.Processes) == 0 {
		return 0, nil
	}
	return 0, errors.New("ending the processes of a drill is not supported on this system")
}

func EndGroup(int) (bool, error) {
	return false, errors.New("ending the processes of a drill is not supported on this system")
}
