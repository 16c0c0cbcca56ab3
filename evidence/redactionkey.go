package evidence

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"handrail/evidence/disk"
	"handrail/evidence/escrow"
	"handrail/evidence/redact"
)

// What an env entry says of the redaction key: another one from here on, or what becomes of it at the seal that comes
// directly after.
const (
	keyNew       = "new"
	keyDestroyed = "destroyed"
	keyEscrowed  = "escrowed"
)

func newKey() []byte {
	key := make([]byte, redact.KeySize)
	rand.Read(key)
	return key
}

func keyName(id string) string { return id + ".key" }

func escrowName(id string, seal int) string { return fmt.Sprintf("%s-%06d.key.age", id, seal) }

// makeKey makes the redaction key of a new bundle.
func makeKey(o Options, id string) ([]byte, error) {
	key := o.key
	if key == nil {
		key = newKey()
	}
	if o.Keys == "" {
		return key, nil
	}
	if err := writeKey(o, id, key); err != nil {
		return nil, err
	}
	return key, writeDictionary(o, key, dictionaryName(id), dictionary{Values: []string{}})
}

func writeKey(o Options, id string, key []byte) error {
	if err := makeDirs(o.FS, o.Keys); err != nil {
		return fmt.Errorf("directory of redaction keys: %w", err)
	}
	if err := disk.Write(o.FS, o.Keys, keyName(id), key, 0o600); err != nil {
		return fmt.Errorf("redaction key: %w", err)
	}
	return nil
}

// makeDirs makes a directory and those above it that are missing, for their owner alone.
func makeDirs(fsys disk.FS, dir string) error {
	err := fsys.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := makeDirs(fsys, filepath.Dir(dir)); err != nil {
			return err
		}
		err = fsys.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// findKey gives the redactor the key of the bundle. When it is gone a new one is made: redaction must go on, and only
// the equality of tokens across the two spans is lost.
func (b *Bundle) findKey() error {
	o := b.opts
	if o.Keys == "" {
		b.useKey(newKey())
		return nil
	}
	name := filepath.Join(o.Keys, keyName(b.id))
	key, err := disk.Read(o.FS, name, redact.KeySize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.newKeyOwed()
		b.forget("its redaction key is gone")
		return nil
	case err != nil:
		return fmt.Errorf("redaction key: %w", err)
	case b.ledger.keyGone != "":
		b.keyLeft = true // a crash came between the seal and its end; see finishKey
		b.newKeyOwed()
		b.forget("its redaction key was given up at a seal")
		return nil
	case len(key) != redact.KeySize:
		return fmt.Errorf("redaction key %q has not %d bytes; move it away and a new one is made", name, redact.KeySize)
	}
	b.useKey(key)
	b.recallKnown(key)
	return nil
}

// finishKey does what a crash cut off. Not before the seal that took leave of the key is durable for certain.
func (b *Bundle) finishKey() error {
	if !b.keyLeft || b.ledger.keyGone == "" {
		return nil
	}
	if b.ledger.sealed() {
		if err := b.finishSeal(); err != nil {
			return err
		}
	}
	return b.dropKey()
}

func (b *Bundle) useKey(key []byte) {
	b.key = key
	if b.opts.red == nil {
		b.red.Rekey(key)
	}
}

// newKeyOwed goes on with another key. It is stored once an entry said so: without this note a reader would take equal
// secrets before and after for different ones.
func (b *Bundle) newKeyOwed() {
	b.pending = newKey()
	b.useKey(b.pending)
	if b.owed == nil {
		b.owed = map[string]string{}
	}
	b.owed["redaction_key"] = keyNew
}

// storeKey stores a new key after the entry that says so.
func (b *Bundle) storeKey() error {
	if b.pending == nil || b.opts.Keys == "" {
		return nil
	}
	if err := writeKey(b.opts, b.id, b.pending); err != nil {
		return fmt.Errorf("%w; nothing was recorded, try again once %q can be written", err, b.opts.Keys)
	}
	b.pending, b.kept = nil, -1
	return nil
}

// announceKey says in the journal what will become of the redaction key at the seal that comes next. An escrowed one is
// durable before that. A key that was not stored ends with its process, and nothing is said.
func (b *Bundle) announceKey(actor string) error {
	o := b.opts
	if o.Keys == "" || o.KeepKey {
		return nil
	}
	type word struct {
		Key        string   `json:"redaction_key"`
		Recipients []string `json:"recipients,omitempty"`
		File       string   `json:"file,omitempty"`
		SHA256     string   `json:"sha256,omitempty"`
	}
	w := word{Key: keyDestroyed}
	if len(o.Recipients) > 0 {
		raw, err := b.escrow()
		if err != nil {
			return fmt.Errorf("redaction key: %w", err)
		}
		w = word{keyEscrowed, o.Recipients, escrowName(b.id, len(b.ledger.seals)+1), sumHex(raw)}
		if err := disk.Write(b.fs, o.Keys, w.File, raw, 0o600); err != nil {
			return fmt.Errorf("redaction key for its recipients: %w", err)
		}
	}
	// The recipients are public keys; nothing here is to be hidden.
	_, err := b.appendLocked(Draft{Type: "env", Actor: actor, Data: w, derived: true})
	return err
}

// escrow is the redaction key, encrypted.
func (b *Bundle) escrow() ([]byte, error) {
	var out bytes.Buffer
	w, err := escrow.Encrypt(&out, b.opts.Recipients)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b.red.Key()); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// dropKey removes the redaction key once a seal and its checkpoint stand that say so, and goes on with another one.
func (b *Bundle) dropKey() error {
	if b.ledger.keyGone == "" || b.opts.Keys == "" {
		return nil
	}
	if err := b.removeKey(); err != nil {
		return err
	}
	if b.pending == nil {
		b.newKeyOwed()
	}
	return nil
}

// removeKey makes the file of the redaction key be gone, and what an unfinished one left.
func (b *Bundle) removeKey() error {
	if err := b.removeDictionaries(); err != nil {
		return fmt.Errorf("the seal of %q stands, its known secrets could not be removed; remove %q, or seal again: %w", b.path, filepath.Join(b.opts.Keys, dictionaryName(b.id)), err)
	}
	for _, name := range [...]string{keyName(b.id), tempPrefix + keyName(b.id)} {
		err := b.fs.Remove(filepath.Join(b.opts.Keys, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the seal of %q stands, its redaction key could not be removed; remove %q, or seal again: %w", b.path, filepath.Join(b.opts.Keys, name), err)
		}
	}
	if err := b.fs.SyncDir(b.opts.Keys); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the seal of %q stands, that its redaction key is gone may not last; seal again: %w", b.path, err)
	}
	return nil
}
