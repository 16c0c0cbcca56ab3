package drills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// ErrRunning says that the drill has been started and not stopped.
var ErrRunning = errors.New("the drill is already running")

// ErrNotStarted says that there is no such drill to go on with or to stop.
var ErrNotStarted = errors.New("the drill has not been started")

// record is what is kept of a running drill, in drill.json of its directory: a
// later process finds everything that it has to end. It holds no secret.
type record struct {
	ID        string                 `json:"id"`
	Variant   string                 `json:"variant,omitempty"`
	Nonce     string                 `json:"nonce"` // in the environment of what the drill started
	Started   time.Time              `json:"started"`
	Lab       string                 `json:"lab"`     // data directory
	Cluster   string                 `json:"cluster"` // UID of its namespace kube-system
	Namespace lab.Namespace          `json:"namespace"`
	Dir       string                 `json:"dir,omitempty"` // root module, of a drill that has one
	Log       string                 `json:"log,omitempty"` // of the apply
	Suffix    string                 `json:"suffix,omitempty"`
	API       string                 `json:"api,omitempty"`      // URL of the API of the bad provider, of a drill that has one
	Broker    *brokerRecord          `json:"broker,omitempty"`   // the message broker, of a drill that has one
	UndoTo    string                 `json:"undo_to,omitempty"`  // age recipient of the drill's own key
	Held      []held                 `json:"held,omitempty"`     // what would keep the namespace from going
	Accounts  map[string]string      `json:"accounts,omitempty"` // of the drill's own, to their kubeconfigs
	Processes []process              `json:"processes,omitempty"`
	Values    map[string]steps.Value `json:"values,omitempty"` // exported
	Ready     bool                   `json:"ready"`            // all is injected but what comes later
	Later     map[string]string      `json:"later,omitempty"`  // gate to begun or done, of what is injected later
	Bundle    string                 `json:"bundle,omitempty"` // of the incident that walks it
}

// held is an object that the drill makes with finalizers of its own.
type held struct {
	Path       string   `json:"path"`
	Finalizers []string `json:"finalizers"`
}

// process leads a group of processes.
type process struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // tells it from a later one with its pid
}

const fileRecord = "drill.json"

// home is the directory of a drill below the state directory of the program.
func home(state, id string) string { return filepath.Join(state, "drills", id) }

func (st *stage) save() error {
	raw, err := json.MarshalIndent(st.rec, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(st.home, fileRecord)
	if err := os.WriteFile(path+".tmp", append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing down the drill: %w", err)
	}
	return os.Rename(path+".tmp", path)
}

func load(state, id string) (record, error) {
	var rec record
	raw, err := os.ReadFile(filepath.Join(home(state, id), fileRecord))
	if errors.Is(err, fs.ErrNotExist) {
		return rec, fmt.Errorf("drill %s: %w", id, ErrNotStarted)
	}
	if err != nil {
		return rec, fmt.Errorf("drill %s: %w", id, err)
	}
	if err := json.Unmarshal(raw, &rec); err != nil {
		return rec, fmt.Errorf("drill %s: reading %s: %w", id, fileRecord, err)
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
		rec, err := load(state, e.Name())
		if errors.Is(err, ErrNotStarted) { // killed before its first word
			rec = record{ID: e.Name()}
		} else if err != nil {
			return nil, err
		}
		out = append(out, Active{ID: rec.ID, Variant: rec.Variant, Started: rec.Started, Ready: rec.Ready, Bundle: rec.Bundle})
	}
	return out, nil
}
