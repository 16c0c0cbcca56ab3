package own

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

	"handrail/steps/fault"
)

// result is what a program came to.
type result struct {
	exit           int
	stdout, stderr []byte
}

// errTooMuch says that a program printed more than is read.
var errTooMuch = fmt.Errorf("it printed more than %d MiB and was killed: let it print less", mostPrinted>>20)

// afterEnd is how long what a program printed is waited for once it has ended and its
// group was killed: what left the group may hold the other end open.
const afterEnd = 2 * time.Second

// run starts the program and waits for its end, or ends it with its whole group. An
// error means that it did not come to an exit code.
func (j *job) run(ctx context.Context, line func(string)) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return result{}, err
	}
	defer nothing.Close()
	var outs [2]*stream
	for i := range outs {
		if outs[i], err = newStream(line); err != nil {
			return result{}, err
		}
		defer outs[i].close()
	}
	cmd := exec.Command(j.path, j.argv[1:]...)
	cmd.Args[0] = j.argv[0]
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = j.dir, j.env, nothing, outs[0].write, outs[1].write
	p, err := start(cmd, j.confined)
	if err != nil {
		return result{}, fmt.Errorf("starting %s: %w", j.argv[0], err)
	}
	for _, o := range outs {
		_ = o.write.Close()
		go func() {
			defer fault.To(func(error) {}) // what it read until then counts
			o.read()
		}()
	}
	var why error
	tooMuch := make(chan struct{})
	var once sync.Once
	for _, o := range outs {
		o.over = func() { once.Do(func() { close(tooMuch) }) }
		close(o.begin)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		why = ctx.Err()
	case <-tooMuch:
		why = errTooMuch
	}
	err = p.end()
	for _, o := range outs {
		o.finish()
	}
	r := result{exit: cmd.ProcessState.ExitCode(), stdout: outs[0].buf.Bytes(), stderr: outs[1].buf.Bytes()}
	var exit *exec.ExitError
	switch {
	case why != nil:
		return r, why
	case outs[0].cut || outs[1].cut:
		return r, errTooMuch
	case err != nil && !errors.As(err, &exit):
		return r, fmt.Errorf("running %s: %w", j.argv[0], err)
	case r.exit < 0:
		return r, fmt.Errorf("%s was ended by a signal: %w", j.argv[0], err)
	}
	return r, nil
}

// stream reads one output of a program, up to a bound.
type stream struct {
	from, write *os.File
	buf         bytes.Buffer
	cut         bool
	line        func(string)
	part        []byte
	over        func()
	begin, done chan struct{}
}

func newStream(line func(string)) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{from: r, write: w, line: line, begin: make(chan struct{}), done: make(chan struct{})}, nil
}

// mostLine is how much of a line without an end is waited for; mostLines how many lines
// are told.
const (
	mostLine  = 4 << 10
	mostLines = 1000
)

func (s *stream) read() {
	defer close(s.done)
	<-s.begin
	b := make([]byte, 32<<10)
	lines := 0
	for {
		n, err := s.from.Read(b)
		room := min(n, mostPrinted-s.buf.Len())
		s.buf.Write(b[:room])
		s.part = append(s.part, b[:room]...)
		for lines < mostLines {
			nl := bytes.IndexByte(s.part, '\n')
			if nl < 0 && len(s.part) <= mostLine && err == nil {
				break
			}
			if nl < 0 {
				nl = len(s.part)
			}
			if text := strings.TrimRight(strings.ToValidUTF8(string(s.part[:nl]), "?"), "\r"); text != "" {
				s.line(text)
				lines++
			}
			s.part = s.part[min(nl+1, len(s.part)):]
			if len(s.part) == 0 {
				break
			}
		}
		if lines >= mostLines {
			s.part = nil
		}
		if room < n {
			s.cut = true
			s.over()
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
				s.cut = true
			}
			return
		}
	}
}

// finish waits for the rest of what was printed.
func (s *stream) finish() {
	_ = s.from.SetReadDeadline(time.Now().Add(afterEnd))
	<-s.done
}

func (s *stream) close() { _ = errors.Join(s.from.Close(), s.write.Close()) }
