package cli

import (
	"context"
	"errors"
	"os"

	"handrail/cli/process"
)

// onTerminal reports whether the match can be shown on the screens: somebody looks
// at stdout, and there are keys to read, from stdin or from the terminal itself
// where stdin is a pipe with the text.
func onTerminal(p *process.Program) (keys *os.File, ok bool) {
	if !process.IsTerminal(p.Stdout) || p.Getenv("TERM") == "dumb" {
		return nil, false
	}
	if process.IsTerminal(p.Stdin) {
		return nil, true
	}
	keys, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, false // no terminal of ours: a job, a service
	}
	return keys, true
}

// matchOnScreen opens the command centre at the match, with a text.
func matchOnScreen(ctx context.Context, p *process.Program, text string, keys *os.File) (err error) {
	here := *p
	if keys != nil {
		here.Stdin = keys
		defer func() { err = errors.Join(err, keys.Close()) }()
	}
	c, err := newConfig(&here)
	if err != nil {
		return err
	}
	if err := signIn(ctx, &here, &c); err != nil {
		return err
	}
	face := face(&here, c)
	face.Matching, face.Text = true, text
	if err := draw(ctx, &here, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}
