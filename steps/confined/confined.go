// Package confined does work on what others wrote, and nothing vouches for, in a process of its own.
//
// The process is handrail again, with one word as its only argument ([Task.Word]) and no environment. It reads its
// input from a pipe and writes one answer to another one. Before it looks at the input it calls [Confine]: on Unix it
// then gives up the right to open anything (files, sockets, pipes, and so programs too), and has limits of processor
// time and memory. Elsewhere what is left is what the work itself refuses.
//
// Answer and time are bounded. What the process says on its way out may quote the input, and is not passed on.
package confined

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

const (
	// patience is how long a task may take.
	patience = 30 * time.Second
	// mostMemory bounds its process.
	mostMemory = 1 << 30
	// mostSeconds bounds its processor time.
	mostSeconds = 25
)

// Task is one kind of work.
type Task struct {
	Word   string // the only argument of handrail
	Doing  string // in errors: "rendering"
	Answer int    // most bytes of its answer
}

// Run does the work in a process of self, and returns its answer. An error says that the process did not come to its end.
func (t Task) Run(ctx context.Context, self string, in io.Reader) ([]byte, error) {
	inner, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(inner, self, t.Word)
	cmd.Args[0] = "handrail"
	cmd.Env = []string{} // nil would be all of ours
	cmd.Stdin = in
	out, said := &bounded{most: t.Answer}, &bounded{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case inner.Err() != nil:
		return nil, fmt.Errorf("%s has not ended after %s", t.Doing, patience)
	case out.over:
		return nil, fmt.Errorf("%s comes to more than %d MiB", t.Doing, t.Answer>>20)
	case err != nil && (strings.Contains(said.b.String(), "out of memory") || strings.Contains(said.b.String(), "cannot allocate memory")):
		return nil, fmt.Errorf("%s took more than %d MiB of memory", t.Doing, mostMemory>>20)
	case err != nil:
		return nil, fmt.Errorf("the process for %s ended before its answer: %w", t.Doing, err)
	}
	return out.b.Bytes(), nil
}

// Confine is called by the process itself, once it has read all of its input.
func Confine() error {
	debug.SetMemoryLimit(mostMemory / 2)
	time.Sleep(time.Nanosecond) // the runtime opens its poller with the first timer, which may be one of the collector
	return confine()
}

// bounded keeps what is written up to a bound, and then breaks off.
type bounded struct {
	b    bytes.Buffer
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.b.Len()+len(p) > b.most {
		b.over = true
		return 0, io.ErrShortWrite
	}
	return b.b.Write(p)
}
