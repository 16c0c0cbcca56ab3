package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// plan is what the manager (handrail/drills/lab) asks for. All knowledge of flags is there; the supervisor only starts
// the processes in order, keeps them together and stops them in reverse.
type plan struct {
	Nonce     string        `json:"nonce"`     // repeated in argv: a supervisor that comes late must not run a newer plan
	Linger    time.Duration `json:"linger"`    // an ephemeral lab ends this long after its last lease
	Processes []process     `json:"processes"` // in start order
}

type process struct {
	Name string   `json:"name"`
	Args []string `json:"args"` // after the name of this program: the role and its flags
	// Await holds the start back until the address answers 200, with the certificate in AwaitCA as the only root.
	Await   string `json:"await,omitempty"`
	AwaitCA string `json:"await_ca,omitempty"`
}

// Phases of state.json.
const (
	phaseStarting = "starting"
	phaseRunning  = "running"
	phaseStopping = "stopping"
	phaseFailed   = "failed"
)

// state is what the supervisor tells whoever looks at the data directory.
type state struct {
	Nonce      string  `json:"nonce"`
	Phase      string  `json:"phase"`
	Why        string  `json:"why,omitempty"`
	BootID     string  `json:"boot_id"`
	Binary     string  `json:"binary"`
	Started    string  `json:"started"`
	Supervisor child   `json:"supervisor"`
	Processes  []child `json:"processes"`
}

// child names a process beyond doubt: a pid alone may belong to a stranger by now.
type child struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	Start string `json:"start"` // as startMark gives it; unequal means that the pid was reused
}

func readPlan(dir, nonce string) (plan, error) {
	var p plan
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, fmt.Errorf("reading plan.json: %w", err)
	}
	if p.Nonce != nonce {
		return p, fmt.Errorf("plan.json in %q belongs to another start", dir)
	}
	return p, nil
}

// writeJSON replaces the file in one step, so that a reader never sees half of it.
func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
