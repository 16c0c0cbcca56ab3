package cli

import (
	"bytes"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/kube"
)

// knownSecrets are the values that handrail's own surroundings say are secret:
// variables by their name, and what the kubeconfig in use authenticates with.
func (p *program) knownSecrets() []string {
	out := append(steps.SecretVariables(p.environ), p.secrets()...)
	env, err := p.stepEnv()
	if err != nil {
		return out
	}
	k, err := kube.Load(env)
	if err != nil {
		return out // said where the cluster is wanted
	}
	for _, v := range []string{k.Config.BearerToken, k.Config.Password, string(k.Config.KeyData)} {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// scrubbed takes the secrets out of what handrail itself says: errors, hints,
// progress, the report of a crash. Each write is a message of its own.
type scrubbed struct {
	w    io.Writer
	from func() ([]string, []redact.TeamRule)
	once sync.Once
	s    *redact.Scrubber
}

func (s *scrubbed) ready() {
	s.once.Do(func() {
		values, team := s.from()
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
func (s *scrubbed) learn(value string) {
	if s.ready(); s.s != nil {
		s.s.Secret(value)
	}
}

func (s *scrubbed) Write(b []byte) (int, error) {
	s.ready()
	out := []byte("handrail: a message is withheld, since it could not be searched for secrets\n")
	if s.s != nil {
		out = []byte(s.s.Text(string(b)))
	}
	if bytes.Equal(out, b) {
		out = b
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// scrub puts a scrubbed before w. It knows its values when the first word is said.
func (p *program) scrub(w io.Writer) io.Writer {
	return &scrubbed{w: w, from: func() ([]string, []redact.TeamRule) {
		team, err := p.teamRules()
		if err != nil {
			team = nil
		}
		return p.knownSecrets(), team
	}}
}

// learn keeps what a session learned to be secret out of what handrail says.
func (p *program) learn(value string) {
	if s, ok := p.stderr.(*scrubbed); ok {
		s.learn(value)
	}
}

// scrubText is what handrail would say of a text on stderr.
func (p *program) scrubText(text string) string {
	s, ok := p.stderr.(*scrubbed)
	if !ok {
		return "(withheld)"
	}
	if s.ready(); s.s == nil {
		return "(withheld)"
	}
	return s.s.Text(text)
}

// crashed reports a panic. Only the names of functions and lines are printed
// with it, never what they were called with.
func crashed(w io.Writer, v any) {
	fmt.Fprintf(w, "handrail: a fault in handrail itself: %s\n%s", safe(fmt.Sprint(v)), debug.Stack())
	fmt.Fprintln(w, "  next: what was acknowledged is on disk; go on with `handrail resume`")
}
