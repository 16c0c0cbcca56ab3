package claim

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"handrail/triage"
)

// SlotFile is the slot of an act until it is claimed; the claim renames
// it to claimFile.
const SlotFile = "slot"

// SlotDir is the directory of an act. It is named by the nonce of its slot; an act
// of a journal that has none is found by its entry, as it was then.
func SlotDir(acts, incident string, slot *triage.Slot, seq int64) string {
	if slot != nil && IsNonce(slot.Nonce) { // a journal may not choose another place
		return filepath.Join(acts, incident, slot.Nonce)
	}
	return filepath.Join(acts, incident, strconv.FormatInt(seq, 10))
}

// NonceSize is that of a nonce in bytes.
const NonceSize = 16

// IsNonce reports whether a text is one, so that it may name a directory.
func IsNonce(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == NonceSize && s == hex.EncodeToString(b)
}

// NewSlot makes a directory with an unclaimed slot in it, and says which file the slot is.
func NewSlot(dir, nonce string) (file string, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, SlotFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(nonce + "\n"); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return FileID(f.Name())
}

// Inode is the part of the identity of a file that a new name leaves.
func Inode(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

// SyncUp makes the names in a directory and in each one above it durable, up to
// and with the last.
func SyncUp(dir, last string) error {
	for {
		if err := syncDir(dir); err != nil {
			return err
		}
		up := filepath.Dir(dir)
		if dir == last || up == dir {
			return nil
		}
		dir = up
	}
}
