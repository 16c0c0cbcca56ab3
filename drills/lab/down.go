package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	wholeGrace  = 30 * time.Second // the supervisor gives each server eight seconds
	singleGrace = 8 * time.Second
)

// Down ends the lab of the data directory and removes its data. Without a lab it does nothing. Binaries stay.
func Down(ctx context.Context, o Options) error {
	o, err := o.filled()
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockFile(ctx, filepath.Join(o.Dir, fileLock), func() {
		o.Progress(Progress{Part: "lab", Stage: StageWait, Text: "another handrail is starting or stopping the lab"})
	})
	if err != nil {
		return fmt.Errorf("waiting to stop the lab: %w", err)
	}
	defer lock.Close()
	if err := halt(ctx, o.Dir); err != nil {
		return fmt.Errorf("stopping the lab: %w", err)
	}
	return os.RemoveAll(o.Dir)
}

// halt ends the supervisor, which ends its servers in the right order, and then whatever outlived it. Only processes
// whose start time is the recorded one are touched. The caller holds the lock of the directory.
func halt(ctx context.Context, dir string) error {
	var s state
	if err := read(dir, fileState, &s); err != nil {
		s = state{} // an unreadable state names no process that we may touch
	}
	if err := end(ctx, s.Supervisor, s.BootID, wholeGrace); err != nil {
		return err
	}
	for i := len(s.Processes) - 1; i >= 0; i-- { // only where the kernel does not end them with the supervisor
		if err := end(ctx, s.Processes[i], s.BootID, singleGrace); err != nil {
			return err
		}
	}
	return unattended(ctx, dir)
}

// unattended waits until no supervisor holds its lock: one that was just started may not have said its pid yet, and
// one that finds another plan, or none, ends by itself.
func unattended(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wholeGrace,
		fmt.Errorf("a supervisor that state.json does not name holds %q: find it with `lsof`, end it, try again", filepath.Join(dir, fileAlive)))
	defer cancel()
	if err := remove(filepath.Join(dir, filePlan)); err != nil {
		return err
	}
	return poll(ctx, func() bool {
		if !supervised(dir) {
			return true
		}
		var s state
		if read(dir, fileState, &s) == nil && s.Supervisor.runs(s.BootID) {
			_ = signal(s.Supervisor, s.BootID, endPolitely)
		}
		return false
	})
}

// end asks, waits, and insists.
func end(ctx context.Context, p process, boot string, grace time.Duration) error {
	gone := func() bool { return !p.runs(boot) }
	if gone() {
		return nil
	}
	if err := signal(p, boot, endPolitely); err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if poll(patient, gone) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := signal(p, boot, endNow); err != nil {
		return err
	}
	last, cancelLast := context.WithTimeoutCause(ctx, grace, fmt.Errorf("%s (pid %d) does not end, even by SIGKILL", p.Name, p.PID))
	defer cancelLast()
	return poll(last, gone)
}

// signal never reaches a stranger: the handle is taken first and the start time compared afterwards, so that a pid
// reused in between is noticed (on Linux the handle stays with the process it was taken on).
func signal(p process, boot string, sig os.Signal) error {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return nil // gone
	}
	defer handle.Release()
	if !p.runs(boot) {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s (pid %d): %w", p.Name, p.PID, err)
	}
	return nil
}

func poll(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
