package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tool"
)

// writeTime is how long a program that writes a state may take before it gets
// one interrupt. It is never killed: that would leave its lock behind.
const writeTime = 20 * time.Minute

// maxOutput bounds what is kept of the words of a program.
const maxOutput = 1 << 20

// writeTool runs a program that writes a state, so that it comes to its end
// whatever becomes of handrail: in a session of its own, without a pipe that
// could break under it, and not tied to the life of its parent as terraform-exec
// does. The end of ctx sends it one interrupt, and it is waited for.
func writeTool(ctx context.Context, env steps.Env, t site, stdin []byte, out steps.Sink, args ...string) (said string, err error) {
	for _, v := range tool.Secrets(env) {
		out.Secret(v)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	// What it says goes into a file without a name, which a pipe could not replace.
	f, err := os.CreateTemp("", "handrail-said-")
	if err != nil {
		return "", fmt.Errorf("place for what %s says: %w", args[0], err)
	}
	defer func() { _ = f.Close() }() // a file without a name
	if err := os.Remove(f.Name()); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, t.tool, args...)
	cmd.Dir, cmd.Env = t.w.Dir, append(tool.Env(env), "TF_WORKSPACE="+t.w.Space)
	cmd.Stdout, cmd.Stderr = f, f
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	tool.OwnSession(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // once, and nothing after it
	if err := steps.Begin(ctx); err != nil {
		return "", fmt.Errorf("nothing was started: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("%s cannot be started: %w", t.tool, err)
	}
	out.Line(fmt.Sprintf("process %d runs %s", cmd.Process.Pid, prose.Quote(append([]string{t.tool}, args...))))
	runErr := cmd.Wait()
	if ctx.Err() != nil && runErr != nil {
		runErr = fmt.Errorf("it was interrupted: %w", errors.Join(ctx.Err(), runErr))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", errors.Join(runErr, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxOutput))
	if err != nil {
		return "", errors.Join(runErr, err)
	}
	said = unboxed(b)
	for line := range strings.Lines(said) {
		out.Line(strings.TrimSuffix(line, "\n"))
	}
	if gap := steps.Keep(out, "output", steps.MediaText, func(w io.Writer) error { _, err := w.Write(b); return err }); gap != "" {
		said += "\n" + gap
	}
	return said, runErr
}

// unboxed is what a program said without the frames around its errors.
func unboxed(b []byte) string {
	var out []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(strings.TrimLeft(line, "│╷╵ "), " \r\n")
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// rehearse runs the dry form of a command without a lock. The state was seen, so
// that opening it creates nothing.
func rehearse(ctx context.Context, env steps.Env, t site, args ...string) (lines []string, err error) {
	r, err := tool.Run(ctx, t.w.Dir, append(tool.Env(env), "TF_WORKSPACE="+t.w.Space), append([]string{t.tool}, args...)...)
	if err != nil {
		return nil, err
	}
	if r.Exit != 0 {
		return nil, errors.New(tool.FirstError(append(r.Stderr, r.Stdout...)))
	}
	for line := range strings.Lines(unboxed(r.Stdout)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "Would ") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
