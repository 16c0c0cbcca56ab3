package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Beside makes <dir>/<id>.hrb for a process that works for whoever has the bundle id open elsewhere: its redaction
// makes the same tokens, so that what it kept can go into that bundle. The key of the tokens stays the other's.
func Beside(dir, id string, o Options) (*Bundle, error) {
	o = o.withDefaults()
	key, err := readPlain(o.FS, filepath.Join(o.Keys, keyName(id)), keySize)
	switch {
	case o.Keys == "" || errors.Is(err, fs.ErrNotExist):
		key = newKey() // its tokens are of no other text then, which shows less, never more
	case err != nil:
		return nil, fmt.Errorf("redaction key: %w", err)
	case len(key) != keySize:
		return nil, fmt.Errorf("redaction key of %q has not %d bytes", id, keySize)
	}
	o.key, o.Keys = key, ""
	return Create(dir, id, o)
}

// Secrets are the values that are known to be secret so far. They are for a process of ours that must not write them
// either, and reach it through a pipe.
func (b *Bundle) Secrets() []string { return b.red.values() }
