package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// errSignal is the cause of a context that ended by a signal.
var errSignal = errors.New("interrupted")

// withSignals returns a context that ends at the first SIGINT, SIGTERM or
// SIGHUP, with errSignal as its cause. A later signal changes nothing: probes
// are cancelled by then, and an act that is running must end by itself, or its
// outcome is lost.
func withSignals(parent context.Context) (context.Context, func()) {
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
		for {
			select {
			case <-done:
				return
			case s := <-got:
				cancel(fmt.Errorf("%w by %v", errSignal, s))
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
