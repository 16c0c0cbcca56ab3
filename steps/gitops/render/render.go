package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Word is the only argument of handrail as the process that renders.
const Word = "__render"

// patience is how long a rendering may take.
const patience = 30 * time.Second

// Render makes the objects of files in a process of its own, that of self. A
// [NotHereError] says that a controller may make what cannot be made here; any other error
// that the manifests are wrong, or that the process did not come to its end.
func Render(ctx context.Context, self string, o Order, files map[string][]byte) (Answer, error) {
	if self == "" {
		return Answer{}, notHere("handrail does not know its own program, which renders in a process of its own")
	}
	var in bytes.Buffer
	if err := pack(&in, o, files); err != nil {
		return Answer{}, fmt.Errorf("packing the files: %w", err)
	}
	inner, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(inner, self, Word)
	cmd.Args[0] = "handrail"
	cmd.Env = []string{} // nil would be all of ours
	cmd.Stdin = &in
	out, said := &bounded{most: mostAnswer}, &bounded{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return Answer{}, context.Cause(ctx)
	case inner.Err() != nil:
		return Answer{}, fmt.Errorf("rendering has not ended after %s", patience)
	case out.over:
		return Answer{}, fmt.Errorf("what is rendered has more than %d MiB", mostAnswer>>20)
	case err != nil:
		return Answer{}, died(err, said.b.String())
	}
	var a Answer
	if err := json.Unmarshal(out.b.Bytes(), &a); err != nil {
		return Answer{}, fmt.Errorf("reading what was rendered: %w", err)
	}
	switch {
	case a.NotHere != "":
		return Answer{}, &NotHereError{Why: a.NotHere}
	case a.Error != "":
		return Answer{}, errors.New(a.Error)
	}
	return a, nil
}

// died says why the process ended before it had answered. Its trace may quote files, and
// is not passed on.
func died(err error, said string) error {
	if strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") {
		return fmt.Errorf("rendering took more than %d MiB of memory", mostMemory>>20)
	}
	return fmt.Errorf("the process that renders ended before its answer: %w", err)
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
