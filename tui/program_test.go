package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/triage"
	"handrail/tui/screen"
)

// screenpipe collects what a program writes, and signals those that wait for a text.
type screenpipe struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new chan struct{}
}

func (p *screenpipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buf.Write(b)
	select {
	case p.new <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (p *screenpipe) has(s string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.buf.String(), s)
}

// await blocks until s was written; the test's own deadline is the limit.
func (p *screenpipe) await(t *testing.T, s string) {
	t.Helper()
	for !p.has(s) {
		select {
		case <-p.new:
		case <-t.Context().Done():
			t.Fatalf("%q was never written", s)
		}
	}
}

// TestProgram runs the whole program on pipes: the command centre, an incident
// resumed from it, a probe, and the way out.
func TestProgram(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	out := &screenpipe{new: make(chan struct{}, 1)}
	c := configFixture(time.Now, "")
	made := make(chan *bench, 1)
	c.Resume = func(context.Context, string, string) (screen.Incident, error) {
		b := newBench(time.Now, "")
		made <- b
		return b, nil
	}
	c.In, c.Out = in, out
	done := make(chan error, 1)
	go func() { done <- show(t.Context(), c, 80, 24) }()

	out.await(t, "OPEN INCIDENTS")
	out.await(t, "cannot get the state lock")
	keys.Write([]byte("\r"))
	out.await(t, "Reads the lock from the backend that keeps it.")
	b := <-made
	keys.Write([]byte("\r"))
	out.await(t, "held by runner@ci-7f9c")
	keys.Write([]byte("\x03"))
	if err := <-done; err != nil {
		t.Errorf("Run() = %v, want nil", err)
	}
	if !b.closed {
		t.Error("the incident was not let go")
	}
	if !out.has("handrail resume 20261120-021400-state-lock-k7qd") {
		t.Error("it does not say how to go on")
	}
	if st, _ := b.state.Step(id("lock")); st.Status != triage.Settled {
		t.Errorf("the probe is %s, want settled", st.Status)
	}
}

// TestProgramEndsWithItsContext: a closed terminal lets go of the incident.
func TestProgramEndsWithItsContext(t *testing.T) {
	t.Parallel()
	hup := errors.New("hangup")
	ctx, cancel := context.WithCancelCause(t.Context())
	in, _ := io.Pipe()
	out := &screenpipe{new: make(chan struct{}, 1)}
	c := configFixture(time.Now, "")
	b := newBench(time.Now, "")
	c.In, c.Out, c.Open = in, out, b
	done := make(chan error, 1)
	go func() { done <- show(ctx, c, 80, 24) }()
	out.await(t, "The lock as it is now")
	cancel(hup)
	if err := <-done; !errors.Is(err, hup) {
		t.Errorf("Run() = %v, want %v", err, hup)
	}
	if !b.closed {
		t.Error("the incident was not let go")
	}
}
