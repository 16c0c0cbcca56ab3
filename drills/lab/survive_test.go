//go:build unix

package lab

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// within fails the test when the condition does not come true; the limit is generous because nothing is measured.
func within(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := poll(ctx, done); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

func TestUpTakenPort(t *testing.T) {
	t.Parallel()
	o := options(t)
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var asked int
	o.ports = func(n int) ([]int, error) {
		free, err := freePorts(n)
		if asked < n && err == nil { // each of the four in turn
			free[asked] = taken.Addr().(*net.TCPAddr).Port
		}
		asked++
		return free, err
	}
	up(t, o)
	if asked != 5 {
		t.Errorf("ports were chosen %d times, want 5: four taken, one free", asked)
	}
}

// TestStarter is the process that TestUpAfterKilledStarter kills; on its own it has nothing to do.
func TestStarter(t *testing.T) {
	dir := os.Getenv("HANDRAIL_LAB_TEST_DIR")
	if dir == "" {
		return
	}
	if _, err := Up(t.Context(), Options{Dir: dir, Ephemeral: true}); err != nil {
		t.Fatal(err)
	}
}

func TestUpAfterKilledStarter(t *testing.T) {
	t.Parallel()
	o := options(t)
	if _, err := Build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	starter := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStarter$")
	starter.Env = append(os.Environ(), "HANDRAIL_LAB_TEST_DIR="+o.Dir)
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	var s state
	within(t, "the supervisor", func() bool { return read(o.Dir, fileState, &s) == nil && s.Supervisor.PID != 0 })
	if err := starter.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := starter.Wait(); err == nil {
		t.Fatal("the starter ended before it was killed")
	}
	l := up(t, o)
	if got := pids(t, l)["supervisor"]; got != s.Supervisor.PID {
		t.Errorf("Up() started supervisor %d, want %d taken over", got, s.Supervisor.PID)
	}
	// The lab has no lease: shorten nothing, but see that a lasting Up makes it stay.
	o.Ephemeral = false
	up(t, o)
	if st, err := l.Status(t.Context()); err != nil || !st.Stays {
		t.Errorf("Status() = %+v, %v; want a lab that stays", st, err)
	}
}

func TestEphemeralEnds(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Linger, o.Lease = time.Second, "only"
	l := up(t, o)
	extra, err := l.Lease(t.Context(), "extra")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	procs := pids(t, l) // one lease is left
	if err := extra.Release(); err != nil {
		t.Fatal(err)
	}
	within(t, "the lab to end by itself", func() bool {
		_, err := os.Stat(o.Dir)
		return os.IsNotExist(err) && startMark(procs["supervisor"]) == ""
	})
	for name, pid := range procs {
		if startMark(pid) != "" {
			t.Errorf("%s (pid %d) outlived the lab", name, pid)
		}
	}
}

func TestKilledSupervisorTakesServersAlong(t *testing.T) {
	t.Parallel()
	o := options(t)
	l := up(t, o)
	var s state
	if err := read(o.Dir, fileState, &s); err != nil {
		t.Fatal(err)
	}
	if err := signal(s.Supervisor, s.BootID, endNow); err != nil {
		t.Fatal(err)
	}
	within(t, "the servers to end", func() bool {
		for _, p := range s.Processes {
			if p.runs(s.BootID) {
				return false
			}
		}
		return true
	})
	if st, err := l.Status(t.Context()); err != nil || st.Running {
		t.Errorf("Status() = %+v, %v; want a lab that does not run", st, err)
	}
	up(t, o)
}

func TestUpAfterReboot(t *testing.T) {
	t.Parallel()
	o := options(t)
	// What a power cut leaves: files of another boot, whose pid belongs to another process by now.
	stranger := exec.CommandContext(t.Context(), "sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	pid := stranger.Process.Pid
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := state{Nonce: "old", Phase: phaseRunning, BootID: "another boot",
		Supervisor: process{Name: "supervisor", PID: pid, Start: startMark(pid)},
		Processes:  []process{{Name: "etcd", PID: pid, Start: "1"}}}
	for name, v := range map[string]any{fileState: old, fileRecord: record{Nonce: "old", Ready: true}} {
		if err := writeJSON(filepath.Join(o.Dir, name), v); err != nil {
			t.Fatal(err)
		}
	}
	up(t, o)
	if startMark(pid) == "" {
		t.Error("a stranger that had got the pid was killed")
	}
}

func TestUpCancelled(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Ephemeral = false
	ctx, cancel := context.WithCancel(t.Context())
	o.ports = func(n int) ([]int, error) { // the last thing before the supervisor starts
		defer cancel()
		return freePorts(n)
	}
	if _, err := Up(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("Up() = %v, want %v", err, context.Canceled)
	}
	if supervised(o.Dir) {
		t.Error("a cancelled start left a lab running")
	}
	if _, err := Open(t.Context(), o); !errors.Is(err, ErrNotRunning) {
		t.Errorf("Open() = %v, want %v", err, ErrNotRunning)
	}
}
