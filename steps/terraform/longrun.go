package terraform

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

// longRun is one run of the program that nothing but an interrupt may end. Its
// output goes where it can be written even when who reads it is gone: a program
// that writes into a broken pipe is killed with its lock held.
type longRun struct {
	cmd  *exec.Cmd
	out  *spool
	err  *spool
	log  io.Writer
	line func([]byte)
}

// start begins the run of argv in dir, in a session of its own.
func start(dir string, env, argv []string) (*longRun, error) {
	r := &longRun{cmd: exec.Command(argv[0], argv[1:]...)}
	r.cmd.Dir, r.cmd.Env = dir, env
	var err error
	if r.out, err = newSpool(); err != nil {
		return nil, fmt.Errorf("place for the output: %w", err)
	}
	if r.err, err = newSpool(); err != nil {
		return nil, errors.Join(fmt.Errorf("place for the output: %w", err), r.out.Close())
	}
	r.cmd.Stdout, r.cmd.Stderr = r.out.file, r.err.file
	ownSession(r.cmd)
	if err := r.cmd.Start(); err != nil {
		return nil, errors.Join(err, r.out.Close(), r.err.Close())
	}
	return r, nil
}

// follow tells each line until the run ends, and returns its exit code. The end
// of ctx sends one interrupt, and never a second.
func (r *longRun) follow(ctx context.Context, interrupted func()) (exit int, err error) {
	ended := make(chan struct{})
	var waited error
	go func() {
		defer fault.Into(&waited)
		defer close(ended)
		waited = r.cmd.Wait()
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
			_ = r.cmd.Process.Signal(os.Interrupt) // it may have ended
		case <-over.C:
			r.drain()
			return 0, fmt.Errorf("%w, as process %d, after %s", errStillRuns, r.cmd.Process.Pid, applyTime)
		case <-tick.C:
			r.drain()
		case <-ended:
			r.drain()
			r.out.rest(r.line)
			r.err.rest(r.line)
			var code *exec.ExitError
			if waited != nil && !errors.As(waited, &code) {
				return 0, waited
			}
			return r.cmd.ProcessState.ExitCode(), errors.Join(r.out.Close(), r.err.Close())
		}
	}
}

func (r *longRun) drain() {
	r.out.lines(r.log, r.line)
	r.err.lines(r.log, r.line)
}

const (
	// applyTime is how long an apply is followed. It is not ended then: the act
	// has an unknown outcome, and what it came to is found out when it ended.
	applyTime = 24 * time.Hour
	// applyLook is how often its output is looked at.
	applyLook = 50 * time.Millisecond
)

// errStillRuns says that an apply goes on which nobody follows any more.
var errStillRuns = errors.New("the apply still runs")
