package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/disk"
	"handrail/evidence/sig"
)

// ErrUnsealed: there is nothing to sign before a bundle is sealed, or once it went on after its seal.
var ErrUnsealed = errors.New("bundle does not end with a seal")

// Sign adds a signature of the newest seal to a bundle and returns the name of its file. It recomputes the whole bundle
// first and signs nothing that does not verify. A key that has signed already signs no second time. No writer may have the
// bundle open.
func Sign(path string, signer ssh.Signer, o Options) (_ string, err error) {
	o = o.withDefaults()
	l, err := disk.TakeLock(path, o.Boot, o.Host)
	if err != nil {
		return "", fmt.Errorf("signing bundle %q: %w", path, err)
	}
	defer func() {
		if rerr := l.Release(); err == nil {
			err = rerr
		}
	}()
	r, err := Verify(path)
	if err != nil {
		return "", err
	}
	for _, line := range r.Lines {
		if line.Verdict == Failed {
			return "", fmt.Errorf("%w: it is not signed: %s: %s", ErrCorrupt, line.Property, line.Detail)
		}
	}
	if r.last == nil || r.last.Entries != r.Entries {
		return "", fmt.Errorf("%w: %q; seal it first", ErrUnsealed, path)
	}
	return placeSignature(path, r.last, signer, o.FS)
}

// placeSignature signs the recomputed checkpoint, never the stored one.
func placeSignature(path string, seal *sealedAt, signer ssh.Signer, fsys disk.FS) (string, error) {
	dir, base := filepath.Join(path, "seals"), sealName(seal.number)
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("signing bundle %q: %w", path, err)
	}
	name := base + ".sig"
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), base+".") {
			continue
		}
		raw, err := disk.Read(fsys, filepath.Join(dir, d.Name()), sig.MaxSignature)
		if err != nil {
			return "", fmt.Errorf("signing bundle %q: %w", path, err)
		}
		s, err := sig.ParseSignature(raw)
		if err == nil && bytes.Equal(s.Key.Marshal(), signer.PublicKey().Marshal()) {
			return "seals/" + d.Name(), nil
		}
		name = base + "." + keyMark(signer.PublicKey()) + ".sig"
	}
	armoured, err := sig.SignSeal(signer, seal.Text())
	if err != nil {
		return "", err
	}
	if err := disk.Write(fsys, dir, name, armoured, 0o600); err != nil {
		return "", fmt.Errorf("the signature of %q could not be written; sign it again once the disk works again: %w", path, err)
	}
	return "seals/" + name, nil
}
