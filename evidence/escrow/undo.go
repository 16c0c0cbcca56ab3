package escrow

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"handrail/evidence/disk"
)

// ErrNoRecipient says that raw material cannot be kept, since no one was named who could read it.
var ErrNoRecipient = errors.New("no age recipient is configured")

// Undo names raw material that was kept encrypted outside the bundle; an entry's data holds it.
type Undo struct {
	Path       string   `json:"path"`
	SHA256     string   `json:"sha256"`     // of the encrypted file
	Bytes      string   `json:"bytes"`      // before encryption, as a decimal string
	Recipients []string `json:"recipients"` // who can read it, as they were given
}

// WriteUndo encrypts what in gives to the recipients (age1…, age1pq1…) and stores it durably as a new file in dir, which must
// not be in a bundle: what an act is undone from (an object, a state) must stay as it was, secrets included. Nothing of
// it reaches the disk in clear. Without a recipient it is ErrNoRecipient, and nothing is written.
func WriteUndo(dir string, recipients []string, in io.Reader) (u Undo, err error) {
	if len(recipients) == 0 {
		return Undo{}, fmt.Errorf("keeping undo material: %w: name one, or undo will have to be done by hand", ErrNoRecipient)
	}
	to, err := parseRecipients(recipients)
	if err != nil {
		return Undo{}, fmt.Errorf("keeping undo material: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Undo{}, fmt.Errorf("keeping undo material: %w", err)
	}
	var id [12]byte
	rand.Read(id[:])
	name := filepath.Join(dir, "undo-"+hex.EncodeToString(id[:])+".age")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Undo{}, fmt.Errorf("keeping undo material: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("keeping undo material in %q: %w", name, err), os.Remove(name))
		}
	}()
	sum := sha256.New()
	n, err := encrypt(io.MultiWriter(f, sum), to, in)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = disk.OS{}.SyncDir(dir)
	}
	return Undo{Path: name, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: fmt.Sprint(n), Recipients: slices.Clone(recipients)}, err
}

// CheckRecipients says whether something can be encrypted to all of these at once: post-quantum and classic recipients
// cannot be mixed.
func CheckRecipients(recipients []string) error {
	to, err := parseRecipients(recipients)
	if err != nil {
		return err
	}
	if _, err := age.Encrypt(io.Discard, to...); err != nil {
		return fmt.Errorf("recipients %q: %w", recipients, err)
	}
	return nil
}

// Encrypt writes what is written to it to out, encrypted to the recipients in the format of age
// (age-encryption.org/v1). Without closing it the end is missing, and who decrypts is told so.
func Encrypt(out io.Writer, recipients []string) (io.WriteCloser, error) {
	if len(recipients) == 0 {
		return nil, ErrNoRecipient
	}
	to, err := parseRecipients(recipients)
	if err != nil {
		return nil, err
	}
	return age.Encrypt(out, to...)
}

func parseRecipients(recipients []string) ([]age.Recipient, error) {
	var to []age.Recipient
	for _, s := range recipients {
		if strings.HasPrefix(strings.ToUpper(s), "AGE-") {
			return nil, errors.New("this is a private key, which must not lie here; write the recipient that belongs to it")
		}
		r, err := recipient(s)
		if err != nil {
			return nil, fmt.Errorf("recipient %q: %w", s, err)
		}
		to = append(to, r)
	}
	return to, nil
}

func recipient(s string) (age.Recipient, error) {
	if r, err := age.ParseHybridRecipient(s); err == nil {
		return r, nil
	}
	return age.ParseX25519Recipient(s)
}

func encrypt(out io.Writer, to []age.Recipient, in io.Reader) (int64, error) {
	w, err := age.Encrypt(out, to...)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, in)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return n, err
}
