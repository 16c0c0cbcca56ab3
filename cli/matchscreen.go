package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/tui"
)

// onTerminal reports whether the match can be shown on the screens: a person looks
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

// matchOnScreen opens the command centre at the match, with a text and the file that it
// is from, "" for none.
func matchOnScreen(ctx context.Context, p *process.Program, text, file string, keys *os.File) (err error) {
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
	if match := face.Match; file != "" {
		face.Match = func(said string) []tui.Hit {
			lib, err := settings.Library(&here)
			// The screen keeps both ends of a text, with its own ends of lines.
			whole, tail := strings.ReplaceAll(text, "\r\n", "\n"), said[max(0, len(said)-512):]
			if err != nil || said == "" || !strings.HasSuffix(whole, tail) {
				return match(said)
			}
			return faced(lib, runbooks.Match(lib, said), said, file)
		}
	}
	if err := draw(ctx, &here, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}
