package escrow

import (
	"fmt"

	"filippo.io/age"
)

// NewUndoKey makes a key that can read an undo, and the recipient that names it:
// for practice, where no one else must ever read it.
func NewUndoKey() (key, recipient string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("key of an undo: %w", err)
	}
	return id.String(), id.Recipient().String(), nil
}
