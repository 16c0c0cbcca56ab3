package redact

import "crypto/rand"

// Scrubber redacts text that goes to a screen or a log instead of a bundle. Its tokens are of this process only, and those of a
// bundle pass it by. It is safe for concurrent use.
type Scrubber struct{ r *Redactor }

// NewScrubber makes one that knows the given values and a team's rules.
func NewScrubber(values []string, team []TeamRule) (*Scrubber, error) {
	key := make([]byte, KeySize)
	rand.Read(key)
	r, err := New(key, team)
	if err != nil {
		return nil, err
	}
	r.PassForeign()
	for _, v := range values {
		r.Secret(v)
	}
	return &Scrubber{r}, nil
}

// Text returns s without secrets.
func (s *Scrubber) Text(text string) string { return s.r.Text(text) }

// Secret names a value that must not be shown from now on.
func (s *Scrubber) Secret(value string) { s.r.Secret(value) }
