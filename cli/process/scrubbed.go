package process

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"handrail/evidence/redact"
)

// Scrubber takes the secrets out of what handrail itself says: errors, hints,
// progress, the report of a crash. Each write is a message of its own.
type Scrubber struct {
	W    io.Writer
	From func() ([]string, []redact.TeamRule)
	once sync.Once
	s    *redact.Scrubber
}

func (s *Scrubber) ready() {
	s.once.Do(func() {
		values, team := s.From()
		scrub, err := redact.NewScrubber(values, team)
		if err != nil { // the team's file was judged elsewhere, and says so itself
			scrub, err = redact.NewScrubber(values, nil)
		}
		if err == nil {
			s.s = scrub
		}
	})
}

// learn adds a secret that came up since.
func (s *Scrubber) learn(value string) {
	if s.ready(); s.s != nil {
		s.s.Secret(value)
	}
}

func (s *Scrubber) Write(b []byte) (int, error) {
	s.ready()
	out := []byte("handrail: a message is withheld, since it could not be searched for secrets\n")
	if s.s != nil {
		out = []byte(s.s.Text(string(b)))
	}
	if bytes.Equal(out, b) {
		out = b
	}
	if _, err := s.W.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Learn keeps what a session learned to be secret out of what handrail says.
func (p *Program) Learn(value string) {
	if s, ok := p.Stderr.(*Scrubber); ok {
		s.learn(value)
	}
}

// ScrubText is what handrail would say of a text on stderr.
func (p *Program) ScrubText(text string) string {
	s, ok := p.Stderr.(*Scrubber)
	if !ok {
		return "(withheld)"
	}
	if s.ready(); s.s == nil {
		return "(withheld)"
	}
	return s.s.Text(text)
}

// Crashed reports a panic. Only the names of functions and lines are printed
// with it, never what they were called with.
func Crashed(w io.Writer, v any) {
	fmt.Fprintf(w, "handrail: an internal error in handrail: %s\n%s", Safe(fmt.Sprint(v)), debug.Stack())
	fmt.Fprintln(w, "  next: what was acknowledged is on disk; go on with `handrail resume`")
}
