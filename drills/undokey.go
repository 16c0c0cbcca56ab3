package drills

import (
	"fmt"
	"os"
	"path/filepath"

	"handrail/evidence/escrow"
	"handrail/session"
)

// undoKey makes a key of the drill's own, beside what else it has: what an act is
// undone from can then be kept where the trainee has named nobody who may read it.
func (st *stage) undoKey() error {
	key, recipient, err := escrow.NewUndoKey()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(st.home, "undo.key"), []byte(key+"\n"), 0o600); err != nil {
		return fmt.Errorf("key of the drill's undo: %w", err)
	}
	st.rec.UndoTo = recipient
	return nil
}

// Undo returns the configuration with who may read what acts are undone from:
// those of the trainee, or else the drill alone.
func (r *Running) Undo(c session.Config) session.Config {
	if r.rec.UndoTo == "" {
		return c
	}
	if c.Undo == "" {
		c.Undo = filepath.Join(r.home, "undo")
	}
	theirs := c.UndoTo
	c.UndoTo = func() ([]string, error) {
		if theirs != nil {
			if to, err := theirs(); err != nil || len(to) > 0 {
				return to, err
			}
		}
		return []string{r.rec.UndoTo}, nil
	}
	return c
}
