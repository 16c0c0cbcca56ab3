package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"handrail/cli/process"
	"handrail/session"
	"handrail/steps/fault"
	"handrail/triage"
)

const (
	// signInWithin is how long a person may take to sign in: to find the phone,
	// to type a code into a browser.
	signInWithin = 5 * time.Minute
	// endWithin is how long an interrupted plugin may take to end.
	endWithin = 5 * time.Second
	// hearWithin is how much later than the plugin we may hear of a Ctrl-C.
	hearWithin = 200 * time.Millisecond
)

var (
	errGivenUp = errors.New("given up with Ctrl-C")
	errTooLong = fmt.Errorf("no sign-in within %s", signInWithin)
)

// signIn has the credential plugin of the kubeconfig's user ask what it must ask
// now, while the terminal is still its own. Who acts is asked again by the
// incident, which knows whether this is its cluster. It can start without: then
// it says so, and only that.
func signIn(ctx context.Context, p *process.Program, c *session.Config) error {
	k, err := clusterOf(c.Env)
	if err != nil || k.plugin() == "" {
		return nil // what is wrong with the kubeconfig was said
	}
	_, err = lend(ctx, p, k)
	var stop *process.Problem
	switch {
	case errors.As(err, &stop):
		return err
	case err != nil:
		c.Identify = nil // do not start it again behind the screen
		c.Server = unseen("not signed in")
		process.Tell(p.Stderr, process.Hint(fmt.Errorf("not signed in to %s, going on without: %w", k.name(), err),
			"what needs the cluster will fail and say so; leave, sign in, then `handrail resume`"))
	}
	return nil
}

// lend asks who acts while the credential plugin has the terminal. No person is
// asked where there is no plugin or no terminal. A *problem means that nothing
// may go on.
func lend(ctx context.Context, p *process.Program, k apiServer) (_ triage.Person, err error) {
	stdin, ok := p.Stdin.(*os.File)
	if !ok || !process.IsTerminal(stdin) || k.plugin() == "" {
		return triage.Person{}, nil
	}
	fmt.Fprintf(p.Stderr, "handrail: signing in to %s with %s, which may ask something here. Ctrl-C goes on without.\n",
		process.Safe(k.name()), process.Safe(filepath.Base(k.plugin())))
	// A plugin that is cut off while it reads a password leaves the terminal mute.
	if before, err := term.GetState(int(stdin.Fd())); err == nil {
		defer func() { _ = term.Restore(int(stdin.Fd()), before) }()
	}
	if k, err = k.connect(); err != nil {
		return triage.Person{}, err
	}
	pressed, back := p.Interrupts.Lend()
	defer back()
	limit, cancel := context.WithTimeoutCause(ctx, signInWithin, errTooLong)
	defer cancel()
	k.within = signInWithin
	type answer struct {
		who triage.Person
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer fault.To(func(err error) { done <- answer{err: err} })
		var a answer
		a.err = k.SignIn(func() (err error) {
			if a.who, err = k.whoami(limit); errors.Is(err, errUnauthorized) {
				a.who, err = k.whoami(limit) // the plugin has renewed what it had kept
			}
			return err
		})
		done <- a
	}()
	timer := time.NewTimer(signInWithin + 2*endWithin)
	defer timer.Stop()
	select {
	case a := <-done:
		if a.err != nil {
			timer.Reset(hearWithin)
			select {
			case <-pressed: // the plugin has heard it first, and ended
				a.err = errGivenUp
			case <-timer.C:
			}
		}
		return a.who, a.err
	case <-pressed:
		err = errGivenUp // the plugin was told as well: the terminal tells all processes
		timer.Reset(endWithin)
	case <-limit.Done():
		err = context.Cause(limit)
		timer.Reset(endWithin)
		if process.InterruptJob() {
			select {
			case <-pressed: // the signal was meant for the plugin alone
			case <-timer.C:
			}
		}
	}
	cancel()
	select {
	case <-done:
	case <-timer.C:
		err = &process.Problem{Code: process.ExitFault, Err: fmt.Errorf("%s does not end and reads what you type: %w", k.plugin(), err),
			Next: "end it; KUBECONFIG=/dev/null starts handrail without a cluster"}
	}
	if ctx.Err() != nil {
		err = &process.Problem{Code: process.ExitOpen, Err: err}
	}
	return triage.Person{}, err
}
