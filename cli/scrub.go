package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"handrail/evidence"
	"handrail/steps/kube"
)

var (
	secretVariable = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|private_?key|api_?key|access_?key|^TF_ENCRYPTION$`)
	notSecretTail  = regexp.MustCompile(`(?i)_(id|file|path|dir|name|url|uri|ttl|type|host|port|addr|endpoint|region|user|username|email|sock|socket|proto)$|_port_`)
)

// knownSecrets are the values that handrail's own surroundings say are secret:
// variables by their name, and what the kubeconfig in use authenticates with.
func (p *program) knownSecrets() []string {
	var out []string
	for _, kv := range p.environ {
		name, value, _ := strings.Cut(kv, "=")
		if secretVariable.MatchString(name) && !notSecretTail.MatchString(name) && !strings.HasPrefix(value, "/") && len(value) >= 8 {
			out = append(out, value)
		}
	}
	out = append(out, p.secrets()...)
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
	from func() ([]string, []evidence.TeamRule)
	once sync.Once
	s    *evidence.Scrubber
}

func (s *scrubbed) Write(b []byte) (int, error) {
	s.once.Do(func() {
		values, team := s.from()
		scrub, err := evidence.NewScrubber(values, team)
		if err != nil { // the team's file was judged elsewhere, and says so itself
			scrub, err = evidence.NewScrubber(values, nil)
		}
		if err == nil {
			s.s = scrub
		}
	})
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
	return &scrubbed{w: w, from: func() ([]string, []evidence.TeamRule) {
		team, err := p.teamRules()
		if err != nil {
			team = nil
		}
		return p.knownSecrets(), team
	}}
}

// crashed reports a panic. Only the names of functions and lines are printed
// with it, never what they were called with.
func crashed(w io.Writer, v any) {
	fmt.Fprintf(w, "handrail: a fault in handrail itself: %s\n%s", safe(fmt.Sprint(v)), debug.Stack())
	fmt.Fprintln(w, "  next: what was acknowledged is on disk; go on with `handrail resume`")
}
