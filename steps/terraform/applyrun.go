package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/fault"
	"handrail/steps/joblog"
)

const (
	// applyTime is how long an apply is followed. It is not ended then: the act
	// has an unknown outcome, and what it came to is found out when it ended.
	applyTime = 24 * time.Hour
	// applyLook is how often its output is looked at.
	applyLook = 50 * time.Millisecond
)

// errStillRuns says that an apply goes on which nobody follows any more.
var errStillRuns = errors.New("the apply still runs")

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

// spool is a file without a name that one process writes and another reads.
type spool struct {
	file *os.File
	at   int64
	part []byte
}

// lines hands on what was written since the last time.
func (s *spool) lines(log io.Writer, line func([]byte)) {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.file.ReadAt(buf, s.at)
		if n == 0 {
			s.forget()
			return
		}
		s.at += int64(n)
		_, _ = log.Write(buf[:n]) // what cannot be kept is told at its end
		s.part = append(s.part, buf[:n]...)
		for {
			nl := bytes.IndexByte(s.part, '\n')
			if nl < 0 {
				break
			}
			line(s.part[:nl])
			s.part = s.part[nl+1:]
		}
		if len(s.part) > joblog.MaxLine {
			line(s.part)
			s.part = nil
		}
		if err != nil {
			s.forget()
			return
		}
	}
}

// rest hands on what ended without a line break.
func (s *spool) rest(line func([]byte)) {
	if len(s.part) > 0 {
		line(s.part)
		s.part = nil
	}
}

// Close gives up what was not read.
func (s *spool) Close() error { return s.file.Close() }

// spoken is a line of the program as a person wants to read it, "" for none.
func spoken(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	var e struct {
		Message    string `json:"@message"`
		Type       string `json:"type"`
		Diagnostic struct {
			Summary string `json:"summary"`
			Detail  string `json:"detail"`
			Address string `json:"address"`
		} `json:"diagnostic"`
	}
	if raw[0] != '{' || json.Unmarshal(raw, &e) != nil {
		return string(raw)
	}
	if d := e.Diagnostic; d.Summary != "" {
		return strings.TrimSpace(e.Message + " " + strings.Join(strings.Fields(d.Detail), " ") + " " + d.Address)
	}
	return e.Message
}

// runApply applies the plan at file and returns what its log says.
func (g applyGate) runApply(ctx context.Context, t *applying, file string, out steps.Sink) (log *runLog, exit int, gap string, err error) {
	for _, v := range childSecrets(g.env) {
		out.Secret(v)
	}
	env := append(childEnv(g.env), "TF_WORKSPACE="+t.w.space)
	log = newRunLog()
	var ranErr error
	gap = steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		kept := &faithful{w: w}
		r, err := start(t.w.dir, env, append([]string{t.program.path}, t.args(file)...))
		if err != nil {
			ranErr = fmt.Errorf("not started: %w", err)
			return nil
		}
		out.Line(fmt.Sprintf("process %d applies %s in %s", r.cmd.Process.Pid, t.name, t.w.dir))
		r.log = kept
		r.line = func(raw []byte) {
			log.line(raw)
			if text := spoken(raw); text != "" {
				out.Line(text)
			}
		}
		exit, ranErr = r.follow(ctx, func() {
			out.Line("one interrupt is sent: what runs is waited for, nothing new begins, and no second interrupt follows")
		})
		return kept.err
	})
	log.end()
	return log, exit, gap, ranErr
}

// faithful remembers the first error of a writer.
type faithful struct {
	w   io.Writer
	err error
}

func (f *faithful) Write(p []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
	}
	return len(p), nil
}
