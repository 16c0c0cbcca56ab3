package terraform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

const (
	// planGrace is how long a cancelled plan may take to stop. It holds no lock,
	// so ending it after that harms nothing.
	planGrace = 20 * time.Second
	maxStdout = 256 << 20
	maxStderr = 1 << 20
)

// result is what a program came to.
type result struct {
	exit   int
	stdout []byte
	stderr []byte
}

// run starts one program with a chosen environment, no input and a process
// group of its own. An error means that it did not come to an exit code.
func run(ctx context.Context, dir string, env []string, argv ...string) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	stdout, stderr := &capped{max: maxStdout}, &capped{max: maxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ownGroup(cmd, planGrace)
	err := cmd.Run()
	r := result{exit: cmd.ProcessState.ExitCode(), stdout: stdout.buf.Bytes(), stderr: stderr.buf.Bytes()}
	if ctx.Err() != nil {
		endGroup(cmd)
		return r, fmt.Errorf("%s was stopped: %w", argv[1], ctx.Err())
	}
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return r, fmt.Errorf("running %s %s: %w", argv[0], argv[1], err)
	case r.exit < 0:
		return r, fmt.Errorf("%s %s was ended by a signal: %w", argv[0], argv[1], err)
	case stdout.cut:
		return r, fmt.Errorf("%s %s wrote more than %d bytes", argv[0], argv[1], maxStdout)
	}
	return r, nil
}

// capped keeps the first max bytes and swallows the rest, so that a chatty
// program is never blocked.
type capped struct {
	buf bytes.Buffer
	max int
	cut bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - c.buf.Len()
	c.cut = c.cut || len(p) > room
	c.buf.Write(p[:min(len(p), max(0, room))])
	return len(p), nil
}
