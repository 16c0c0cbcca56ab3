package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"handrail/steps/fault"
)

// ErrSignal is the cause of a context that ended by a signal.
var ErrSignal = errors.New("interrupted")

// WithSignals returns a context that ends at the first SIGINT, SIGTERM or
// SIGHUP, with errSignal as its cause. A later signal changes nothing: probes
// are cancelled by then, and an act that is running must end by itself, or its
// outcome is lost. Ctrl-C may be lent to a wait that can be given up.
func WithSignals(parent context.Context, lent *Interrupts) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 4)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// A write to a closed terminal or pipe must end in an error, not in death
	// before the bundle is closed.
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer fault.To(func(err error) { cancel(err) })
		for {
			select {
			case <-done:
				return
			case s := <-got:
				if s == syscall.SIGINT && lent.take() {
					continue
				}
				cancel(fmt.Errorf("%w by %v", ErrSignal, s))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		close(done)
		<-finished
		cancel(nil)
	}
}

// Interrupts lets a wait have Ctrl-C for itself.
type Interrupts struct {
	mu sync.Mutex
	to chan struct{}
}

// Lend returns a channel that is told of a Ctrl-C, which then interrupts nothing
// else until back is called.
func (i *Interrupts) Lend() (pressed <-chan struct{}, back func()) {
	if i == nil {
		return nil, func() {}
	}
	to := make(chan struct{}, 1)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.to = to
	return to, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.to = nil
	}
}

// take gives a Ctrl-C to who has it, if any has.
func (i *Interrupts) take() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.to == nil {
		return false
	}
	select {
	case i.to <- struct{}{}:
	default: // it was pressed before
	}
	return true
}
