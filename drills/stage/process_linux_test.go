package stage

import (
	"os/exec"
	"testing"
)

// TestKillWhatWasWrittenDown: a server that wrote its title over its environment is ended
// all the same, and a process that has only its pid is not.
func TestKillWhatWasWrittenDown(t *testing.T) {
	t.Parallel()
	started := func() (*exec.Cmd, string) {
		cmd := exec.Command("sleep", "300")
		cmd.Env = []string{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd, StartMark(cmd.Process.Pid)
	}
	ours, start := started()
	other, _ := started()
	rec := Record{Nonce: "n-of-this-test", Processes: []Process{{PID: ours.Process.Pid, Start: start}, {PID: other.Process.Pid, Start: "1"}}}
	if n, err := Kill(rec); err != nil || n != 1 {
		t.Errorf("Kill() = %d, %v, want the one that was written down", n, err)
	}
	if err := ours.Wait(); err == nil {
		t.Error("the process that was written down ended by itself")
	}
	if StartMark(other.Process.Pid) == "" {
		t.Error("a process with the pid of a recorded one and another start is gone")
	}
	_ = other.Process.Kill()
	_ = other.Wait()
}
