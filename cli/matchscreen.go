package cli

import (
	"context"
	"errors"
	"os"
)

// onTerminal reports whether the match can be shown on the screens: somebody looks
// at stdout, and there are keys to read, from stdin or from the terminal itself
// where stdin is a pipe with the text.
func (p *program) onTerminal() (keys *os.File, ok bool) {
	if !isTerminal(p.stdout) || p.getenv("TERM") == "dumb" {
		return nil, false
	}
	if isTerminal(p.stdin) {
		return nil, true
	}
	keys, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, false // no terminal of ours: a job, a service
	}
	return keys, true
}

// matchOnScreen opens the command centre at the match, with a text.
func (p *program) matchOnScreen(ctx context.Context, text string, keys *os.File) (err error) {
	here := *p
	if keys != nil {
		here.stdin = keys
		defer func() { err = errors.Join(err, keys.Close()) }()
	}
	c, err := here.session()
	if err != nil {
		return err
	}
	if err := here.signIn(ctx, &c); err != nil {
		return err
	}
	face := here.face(c)
	face.Matching, face.Text = true, text
	if err := here.draw(ctx, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}
