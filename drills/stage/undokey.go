package stage

import (
	"fmt"
	"os"
	"path/filepath"

	"handrail/evidence/escrow"
)

// UndoKey makes a key of the drill's own, beside what else it has: what an act is
// undone from can then be kept where the trainee has named no recipient.
func (st *Stage) UndoKey() error {
	key, recipient, err := escrow.NewUndoKey()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(st.Home, "undo.key"), []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("key of the drill's undo: %w", err)
	}
	st.Rec.UndoTo = recipient
	return nil
}
