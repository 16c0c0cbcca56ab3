package registry

import (
	"errors"
	"strings"
)

const (
	mostChallenge  = 4 << 10 // bytes of a header WWW-Authenticate
	mostChallenges = 16
)

// challenge is one challenge of WWW-Authenticate (RFC 9110, 11.6.1): a scheme and its parameters, names in lower case.
type challenge struct {
	scheme string
	params map[string]string
}

var errChallenge = errors.New("the registry asks for a sign-in in a way that cannot be read")

// parseChallenges reads the values of WWW-Authenticate. A name that stands twice in one challenge makes it unreadable: two
// readers could take two realms from it.
func parseChallenges(values []string) ([]challenge, error) {
	var list []challenge
	for _, text := range values {
		if len(text) > mostChallenge {
			return nil, errChallenge
		}
		s := scanner{text}
		s.blanks(",")
		for s.text != "" {
			word := s.token()
			if word == "" || len(list) == mostChallenges {
				return nil, errChallenge
			}
			c := challenge{strings.ToLower(word), map[string]string{}}
			if err := s.params(&c); err != nil {
				return nil, err
			}
			list = append(list, c)
			s.blanks(",")
		}
	}
	return list, nil
}

// scanner takes a header apart from its front.
type scanner struct{ text string }

func (s *scanner) blanks(more string) { s.text = strings.TrimLeft(s.text, " \t"+more) }

// token takes a token of RFC 9110, 5.6.2.
func (s *scanner) token() string {
	n := strings.IndexFunc(s.text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
	if n < 0 {
		n = len(s.text)
	}
	word := s.text[:n]
	s.text = s.text[n:]
	return word
}

// params takes the parameters of a challenge, up to the scheme of the next.
func (s *scanner) params(c *challenge) error {
	for {
		s.blanks("")
		before := s.text
		name := s.token()
		s.blanks("")
		if name == "" && (s.text == "" || s.text[0] == ',' && len(c.params) == 0) {
			return nil
		}
		if name == "" || !strings.HasPrefix(s.text, "=") {
			if name == "" || len(c.params) == 0 {
				return errChallenge
			}
			s.text = before // the scheme of the next challenge
			return nil
		}
		s.text = s.text[1:]
		s.blanks("")
		value, ok := s.value()
		name = strings.ToLower(name)
		if _, twice := c.params[name]; !ok || twice {
			return errChallenge
		}
		c.params[name] = value
		s.blanks("")
		if s.text == "" {
			return nil
		}
		if s.text[0] != ',' {
			return errChallenge
		}
		s.blanks(",")
	}
}

// value takes a token or a quoted string.
func (s *scanner) value() (string, bool) {
	if !strings.HasPrefix(s.text, `"`) {
		v := s.token()
		return v, v != ""
	}
	var b strings.Builder
	for i := 1; i < len(s.text); i++ {
		switch ch := s.text[i]; {
		case ch == '"':
			s.text = s.text[i+1:]
			return b.String(), true
		case ch == '\\' && i+1 < len(s.text):
			i++
			b.WriteByte(s.text[i])
		case ch < ' ' && ch != '\t' || ch == 0x7f:
			return "", false
		default:
			b.WriteByte(ch)
		}
	}
	return "", false
}
