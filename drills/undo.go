package drills

import (
	"path/filepath"

	"handrail/session"
)

// Undo returns the configuration with who may read what acts are undone from:
// those of the trainee, or else the drill alone.
func (r *Running) Undo(c session.Config) session.Config {
	if r.stage.Rec.UndoTo == "" {
		return c
	}
	if c.Undo == "" {
		c.Undo = filepath.Join(r.stage.Home, "undo")
	}
	theirs := c.UndoTo
	c.UndoTo = func() ([]string, error) {
		if theirs != nil {
			if to, err := theirs(); err != nil || len(to) > 0 {
				return to, err
			}
		}
		return []string{r.stage.Rec.UndoTo}, nil
	}
	return c
}
