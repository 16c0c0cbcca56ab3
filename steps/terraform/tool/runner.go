package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"handrail/steps"
)

const (
	// planGrace is how long a cancelled plan may take to stop. It holds no lock,
	// so ending it after that harms nothing.
	planGrace = 20 * time.Second
	maxStdout = 256 << 20
	maxStderr = 1 << 20
)

// Result is what a program came to.
type Result struct {
	Exit   int
	Stdout []byte
	Stderr []byte
}

// Run starts one program with a chosen environment, no input and a process
// group of its own. An error means that it did not come to an exit code.
func Run(ctx context.Context, dir string, env []string, argv ...string) (Result, error) {
	return RunTold(ctx, dir, env, nil, argv...)
}

// RunTold is Run, and every line that the program writes is told while it runs.
func RunTold(ctx context.Context, dir string, env []string, line func(string), argv ...string) (Result, error) {
	return RunIn(ctx, dir, env, line, nil, argv...)
}

// RunIn is RunTold, and the program inherits files from descriptor 3 on.
func RunIn(ctx context.Context, dir string, env []string, line func(string), files []*os.File, argv ...string) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, env, files
	stdout, stderr := &cappedBuffer{max: maxStdout}, &cappedBuffer{max: maxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if line != nil {
		var turn sync.Mutex
		tellOut, tellErr := &teller{line: line, turn: &turn}, &teller{line: line, turn: &turn}
		cmd.Stdout, cmd.Stderr = io.MultiWriter(stdout, tellOut), io.MultiWriter(stderr, tellErr)
		defer tellErr.rest()
		defer tellOut.rest()
	}
	ownGroup(cmd, planGrace)
	err := cmd.Run()
	r := Result{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.buf.Bytes(), Stderr: stderr.buf.Bytes()}
	if ctx.Err() != nil {
		endGroup(cmd)
		return r, fmt.Errorf("%s was stopped: %w", argv[1], ctx.Err())
	}
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return r, fmt.Errorf("running %s %s: %w", argv[0], argv[1], err)
	case r.Exit < 0:
		return r, fmt.Errorf("%s %s was ended by a signal: %w", argv[0], argv[1], err)
	case stdout.cut:
		return r, fmt.Errorf("%s %s wrote more than %d bytes", argv[0], argv[1], maxStdout)
	}
	return r, nil
}

// cappedBuffer keeps the first max bytes and swallows the rest, so that a chatty
// program is never blocked.
type cappedBuffer struct {
	buf bytes.Buffer
	max int
	cut bool
}

func (c *cappedBuffer) Write(p []byte) (int, error) {
	room := c.max - c.buf.Len()
	c.cut = c.cut || len(p) > room
	c.buf.Write(p[:min(len(p), max(0, room))])
	return len(p), nil
}

// teller tells whole lines. Two that tell the same sink take turns.
type teller struct {
	line func(string)
	turn *sync.Mutex
	part []byte
}

// longestTold is how much of a line without an end is waited for.
const longestTold = 64 << 10

func (t *teller) Write(p []byte) (int, error) {
	t.turn.Lock()
	defer t.turn.Unlock()
	t.part = append(t.part, p...)
	for {
		nl := bytes.IndexByte(t.part, '\n')
		if nl < 0 && len(t.part) > longestTold {
			nl = len(t.part)
		}
		if nl < 0 {
			return len(p), nil
		}
		t.tell(t.part[:nl])
		t.part = t.part[min(nl+1, len(t.part)):]
	}
}

func (t *teller) tell(line []byte) {
	t.line(string(bytes.TrimSuffix(line, []byte{'\r'})))
}

// rest tells what came last and ended no line.
func (t *teller) rest() {
	t.turn.Lock()
	defer t.turn.Unlock()
	if len(t.part) > 0 {
		t.tell(t.part)
	}
}

// Unwrapped is what a tool printed as one line without its frames: it wraps errors at 78 columns.
func Unwrapped(b []byte) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(string(b))), " ")
}

// FirstError returns the first error of a diagnostic output on one line.
func FirstError(b []byte) string {
	text := Unwrapped(b)
	if i := strings.Index(text, "Error:"); i > 0 {
		text = text[i:]
	}
	if text == "" {
		return "it gave no reason"
	}
	return steps.Clip(text, 600)
}
