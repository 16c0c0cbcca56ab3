package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"handrail/evidence/disk"
	"handrail/evidence/redact"
)

// Beside makes <dir>/<id>.hrb for a process that works for the holder of the bundle id elsewhere: its redaction
// makes the same tokens, so that what it kept can go into that bundle. The key of the tokens stays the other's.
func Beside(dir, id string, o Options) (*Bundle, error) {
	o = o.withDefaults()
	side := o.Keys
	key, err := disk.Read(o.FS, filepath.Join(o.Keys, keyName(id)), redact.KeySize)
	switch {
	case o.Keys == "" || errors.Is(err, fs.ErrNotExist):
		key, side = newKey(), "" // its tokens are of no other text then, which shows less, never more
	case err != nil:
		return nil, fmt.Errorf("redaction key: %w", err)
	case len(key) != redact.KeySize:
		return nil, fmt.Errorf("redaction key of %q has not %d bytes", id, redact.KeySize)
	}
	o.key, o.Keys = key, ""
	b, err := Create(dir, id, o)
	if b != nil {
		b.side = side
	}
	return b, err
}

// Learned is what a bundle's redaction was told and cannot find again by itself.
type Learned struct {
	Secrets   []string            `json:"secrets,omitempty"`   // values
	Sensitive map[string][]string `json:"sensitive,omitempty"` // by type of resource, see Sensitive
	Doubts    []string            `json:"doubts,omitempty"`    // digits of tokens whose values may be lost, see Forgot
	Forgot    bool                `json:"forgot,omitempty"`
}

// Learned is what was learned so far. It is for a process of ours that must not store it either, and reaches it through a
// pipe.
func (b *Bundle) Learned() Learned {
	doubts := b.red.Doubting()
	return Learned{Secrets: b.red.Values(), Sensitive: b.Told(), Doubts: slices.Sorted(maps.Keys(doubts)), Forgot: doubts != nil}
}

// Learn takes what another bundle had learned.
func (b *Bundle) Learn(l Learned) {
	for _, v := range l.Secrets {
		b.red.Secret(v)
	}
	b.red.Tell(l.Sensitive)
	if l.Forgot {
		b.red.Doubt(l.Doubts...)
	}
}
