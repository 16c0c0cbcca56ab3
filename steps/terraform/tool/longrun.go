package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"handrail/steps/fault"
)

// LongRun is one run of the program that nothing but an interrupt may end. Its
// output goes where it can be written even when who reads it is gone: a program
// that writes into a broken pipe is killed with its lock held.
type LongRun struct {
	Cmd  *exec.Cmd
	Out  *Spool
	Err  *Spool
	Log  io.Writer
	Line func([]byte)
}

// Start begins the run of argv in dir, in a session of its own.
func Start(dir string, env, argv []string) (*LongRun, error) {
	r := &LongRun{Cmd: exec.Command(argv[0], argv[1:]...)}
	r.Cmd.Dir, r.Cmd.Env = dir, env
	var err error
	if r.Out, err = newSpool(); err != nil {
		return nil, fmt.Errorf("place for the output: %w", err)
	}
	if r.Err, err = newSpool(); err != nil {
		return nil, errors.Join(fmt.Errorf("place for the output: %w", err), r.Out.Close())
	}
	r.Cmd.Stdout, r.Cmd.Stderr = r.Out.file, r.Err.file
	OwnSession(r.Cmd)
	if err := r.Cmd.Start(); err != nil {
		return nil, errors.Join(err, r.Out.Close(), r.Err.Close())
	}
	return r, nil
}

// Follow tells each line until the run ends, and returns its exit code. The end
// of ctx sends one interrupt, and never a second.
func (r *LongRun) Follow(ctx context.Context, interrupted func()) (exit int, err error) {
	ended := make(chan struct{})
	var waited error
	go func() {
		defer fault.Into(&waited)
		defer close(ended)
		waited = r.Cmd.Wait()
	}()
	tick := time.NewTicker(applyLook)
	defer tick.Stop()
	over := time.NewTimer(applyTime)
	defer over.Stop()
	asked := ctx.Done()
	for {
		select {
		case <-asked:
			asked = nil
			interrupted()
			_ = r.Cmd.Process.Signal(os.Interrupt) // it may have ended
		case <-over.C:
			r.drain()
			return 0, fmt.Errorf("%w, as process %d, after %s", ErrStillRuns, r.Cmd.Process.Pid, applyTime)
		case <-tick.C:
			r.drain()
		case <-ended:
			r.drain()
			r.Out.rest(r.Line)
			r.Err.rest(r.Line)
			var code *exec.ExitError
			if waited != nil && !errors.As(waited, &code) {
				return 0, waited
			}
			return r.Cmd.ProcessState.ExitCode(), errors.Join(r.Out.Close(), r.Err.Close())
		}
	}
}

func (r *LongRun) drain() {
	r.Out.lines(r.Log, r.Line)
	r.Err.lines(r.Log, r.Line)
}

const (
	// applyTime is how long an apply is followed. It is not ended then: the act
	// has an unknown outcome, and what it came to is found out when it ended.
	applyTime = 24 * time.Hour
	// applyLook is how often its output is looked at.
	applyLook = 50 * time.Millisecond
)

// ErrStillRuns says that an apply goes on that is no longer followed.
var ErrStillRuns = errors.New("the apply still runs")
