package evidence

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/evidence/disk"
)

// maxDictionary bounds what is kept of the known values; of more than that the rest is lost.
const maxDictionary = 64 << 20

// What an env entry says of the dictionary: that values which were known before it are not known any more.
const knownLost = "lost"

func dictionaryName(id string) string { return id + ".known" }

// sideDictionary is that of a process that works beside the writer. No id holds the sign between.
func sideDictionary(id, part string) string { return id + "+" + part + ".known" }

// dictionary is what was learned. What schemas call sensitive stands in the journal, but for that of a process beside.
type dictionary struct {
	Values    []string            `json:"values"`
	Sensitive map[string][]string `json:"sensitive,omitempty"`
}

// sealDictionary encrypts it under the redaction key. name binds it to its file.
func sealDictionary(key []byte, name string, d dictionary) ([]byte, error) {
	slices.Sort(d.Values)
	plain, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if len(plain) > maxDictionary {
		return nil, fmt.Errorf("they are over %d MiB", maxDictionary>>20)
	}
	aead, err := dictionaryCipher(key)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, plain, []byte(name)), nil
}

func openDictionary(key []byte, name string, sealed []byte) (d dictionary, err error) {
	aead, err := dictionaryCipher(key)
	if err != nil {
		return d, err
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(name))
	if err != nil {
		return d, errors.New("it is not what was written with this key")
	}
	return d, json.Unmarshal(plain, &d)
}

// dictionaryCipher has a key of its own: that of the tokens makes nothing else.
func dictionaryCipher(key []byte) (cipher.AEAD, error) {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("known values v1"))
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func writeDictionary(o Options, key []byte, name string, d dictionary) error {
	raw, err := sealDictionary(key, name, d)
	if err == nil {
		err = disk.Write(o.FS, o.Keys, name, raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("known secrets in %q: %w", filepath.Join(o.Keys, name), err)
	}
	return nil
}

func readDictionary(o Options, key []byte, name string) (d dictionary, err error) {
	raw, err := disk.Read(o.FS, filepath.Join(o.Keys, name), 2*maxDictionary)
	if err == nil {
		d, err = openDictionary(key, name, raw)
	}
	if err != nil {
		return dictionary{}, fmt.Errorf("known secrets in %q: %w", filepath.Join(o.Keys, name), err)
	}
	return d, nil
}

// recallKnown makes what earlier writers learned known again. Where it cannot be read the journal is owed a word, and what
// follows is redacted with more doubt.
func (b *Bundle) recallKnown(key []byte) {
	o := b.opts
	d, err := readDictionary(o, key, dictionaryName(b.id))
	if err != nil {
		b.forget(err.Error())
		b.kept = -1
		return
	}
	for _, v := range d.Values {
		b.red.Secret(v)
	}
	b.kept = b.red.Learned()
	b.takeSides(key)
	if b.lost {
		b.red.Doubt()
	}
}

// forget notes that values which were known are not known any more.
func (b *Bundle) forget(why string) {
	b.red.Doubt()
	if b.lost {
		return // the journal says so already
	}
	b.forgot = why
	if b.owed == nil {
		b.owed = map[string]string{}
	}
	b.owed["known"] = knownLost
}

// Forgot says why values that earlier writers of the bundle had learned to be secret are not known to this one, "" where
// they are, and where the journal said so before. Then what looks like a secret is hidden in every text that is stored.
func (b *Bundle) Forgot() string { return b.forgot }

// keepKnown makes durable which values are known, before an entry that was redacted by them. Where that fails the journal
// says so first: a later writer must not trust what it finds.
func (b *Bundle) keepKnown() error {
	if b.opts.Keys == "" || b.pending != nil {
		return nil
	}
	n := b.red.Learned()
	if n == b.kept && len(b.sides) == 0 {
		return nil
	}
	err := writeDictionary(b.opts, b.key, dictionaryName(b.id), dictionary{Values: b.red.Values()})
	if err == nil {
		b.kept = n
		for _, name := range b.sides {
			_ = b.fs.Remove(filepath.Join(b.opts.Keys, name)) // one that stays is read again
		}
		b.sides = nil
		return nil
	}
	if b.lost {
		return nil
	}
	_, err = b.appendLocked(Draft{Type: "env", Actor: "system", Data: map[string]string{"known": knownLost}, derived: true})
	b.lost = err == nil
	return err
}

// takeSides takes in what processes beside an earlier writer learned.
func (b *Bundle) takeSides(key []byte) {
	list, err := b.fs.ReadDir(b.opts.Keys)
	if err != nil {
		return
	}
	for _, d := range list {
		part, ok := strings.CutPrefix(d.Name(), b.id+"+")
		if part, ok2 := strings.CutSuffix(part, ".known"); ok && ok2 {
			b.takeSide(key, part)
		}
	}
}

func (b *Bundle) takeSide(key []byte, part string) []string {
	d, err := readDictionary(b.opts, key, sideDictionary(b.id, part))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.forget(err.Error())
		}
		return nil
	}
	for _, v := range d.Values {
		b.red.Secret(v)
	}
	b.Sensitive(d.Sensitive)
	b.sides = append(b.sides, sideDictionary(b.id, part))
	return d.Values
}

// TakeIn makes known what the process that worked beside this one as part learned, and returns it.
func (b *Bundle) TakeIn(part string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opts.Keys == "" || b.pending != nil {
		return nil
	}
	return b.takeSide(b.key, part)
}

// KeepBeside stores what this bundle learned for the one that it works beside; see Beside and TakeIn.
func (b *Bundle) KeepBeside(part string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.side == "" {
		return nil
	}
	o := b.opts
	o.Keys = b.side
	return writeDictionary(o, b.key, sideDictionary(b.id, part), dictionary{b.red.Values(), b.Told()})
}

// removeDictionaries removes what is known of a bundle, before its key goes.
func (b *Bundle) removeDictionaries() error {
	names := []string{dictionaryName(b.id), tempPrefix + dictionaryName(b.id)}
	list, err := b.fs.ReadDir(b.opts.Keys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range list {
		if strings.HasPrefix(strings.TrimPrefix(d.Name(), tempPrefix), b.id+"+") {
			names = append(names, d.Name())
		}
	}
	for _, name := range names {
		if err := b.fs.Remove(filepath.Join(b.opts.Keys, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// learnFrom takes what an entry of the store says of redaction.
func (b *Bundle) learnFrom(e *Entry) {
	if e.Type != "env" || !bytes.Contains(e.Data, []byte(`"known"`)) && !bytes.Contains(e.Data, []byte(`"sensitive"`)) {
		return
	}
	var d struct {
		Known     string              `json:"known"`
		Sensitive map[string][]string `json:"sensitive"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	if d.Known == knownLost {
		b.lost = true
	}
	if len(d.Sensitive) > 0 {
		b.red.Tell(d.Sensitive)
	}
}
