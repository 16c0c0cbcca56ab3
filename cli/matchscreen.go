package cli

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
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

// matchOnScreen opens the command centre at the match, with a text and what stands for it as
// a log: its file, or [triage.Pasted], "" where it is none.
func matchOnScreen(ctx context.Context, p *process.Program, text, from string, keys *os.File) (err error) {
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
	// The screen keeps both ends of a text, with its own ends of lines.
	whole := strings.ReplaceAll(text, "\r\n", "\n")
	ours := func(said string) bool { return said != "" && strings.HasSuffix(whole, said[max(0, len(said)-512):]) }
	if match := face.Match; text != "" {
		face.Match = func(said string) []tui.Hit {
			lib, err := settings.Library(&here)
			if err != nil || !ours(said) {
				return match(said)
			}
			return faced(lib, runbooks.Match(lib, said), said, from)
		}
	}
	begin := face.Start
	face.Start = func(ctx context.Context, s tui.Start) (tui.Incident, error) {
		switch {
		case !ours(s.Text):
		case from != "" && slices.Contains(slices.Collect(maps.Values(s.Given)), absolute(from)):
			s.Text = "" // its file is read
		default:
			s.Text = whole // what came through a pipe is kept whole
		}
		return begin(ctx, s)
	}
	if err := draw(ctx, &here, face); err != nil && !interrupted(ctx, err) {
		return err
	}
	return nil
}
