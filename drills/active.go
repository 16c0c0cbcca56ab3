package drills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/stage"
)

// ErrRunning says that the drill has been started and not stopped.
var ErrRunning = errors.New("the drill is already running")

// ErrNotStarted says that there is no such drill to go on with or to stop.
var ErrNotStarted = errors.New("the drill has not been started")

// home is the directory of a drill below the state directory of the program.
func home(state, id string) string { return filepath.Join(state, "drills", id) }

// recordOf reads what is kept of a running drill.
func recordOf(state, id string) (stage.Record, error) {
	rec, err := stage.Load(home(state, id))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotStarted
	}
	if err != nil {
		return rec, fmt.Errorf("drill %s: %w", id, err)
	}
	return rec, nil
}

// Active says which drills are started and not stopped.
type Active struct {
	ID      string    `json:"id"`
	Variant string    `json:"variant,omitempty"`
	Started time.Time `json:"started"`
	Ready   bool      `json:"ready"`
	Bundle  string    `json:"bundle,omitempty"`
}

// ListActive returns the drills below the state directory that are started and
// not stopped, in order of id.
func ListActive(state string) ([]Active, error) {
	entries, err := os.ReadDir(filepath.Join(state, "drills"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Active
	for _, e := range entries {
		rec, err := recordOf(state, e.Name())
		if errors.Is(err, ErrNotStarted) { // killed before its first word
			rec = stage.Record{ID: e.Name()}
		} else if err != nil {
			return nil, err
		}
		out = append(out, Active{ID: rec.ID, Variant: rec.Variant, Started: rec.Started, Ready: rec.Ready, Bundle: rec.Bundle})
	}
	return out, nil
}
