package evidence

import "crypto/rand"

// Scrubber redacts text that goes to a screen or a log instead of a bundle. Its tokens are of this process only, and those of a
// bundle pass it by. It is safe for concurrent use.
type Scrubber struct{ r *redactor }

// NewScrubber makes one that knows the given values and a team's rules.
func NewScrubber(values []string, team []TeamRule) (*Scrubber, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	r, err := newRedactor(key, team)
	if err != nil {
		return nil, err
	}
	r.passForeign()
	for _, v := range values {
		r.secret(v)
	}
	return &Scrubber{r}, nil
}

// Text returns s without secrets.
func (s *Scrubber) Text(text string) string { return s.r.text(text) }

// Secret names a value that must not be shown from now on.
func (s *Scrubber) Secret(value string) { s.r.secret(value) }
