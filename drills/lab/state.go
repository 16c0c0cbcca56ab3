package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files of the data directory. Each has one writer: the supervisor writes state.json, we the others.
const (
	fileLock   = "lock"       // held while starting, stopping and leasing
	fileAlive  = "alive"      // held by the supervisor for its life
	filePlan   = "plan.json"  // what the supervisor runs
	fileState  = "state.json" // what it does
	fileRecord = "lab.json"   // what we know about the lab
	fileStay   = "stay"       // present: does not end by itself
	fileTokens = "tokens.csv"
	fileAdmin  = "admin.kubeconfig"
	dirLeases  = "leases"
	dirAccount = "accounts"
)

// Phases that the supervisor writes.
const (
	phaseStarting = "starting"
	phaseRunning  = "running"
	phaseStopping = "stopping"
	phaseFailed   = "failed"
)

// state is what the supervisor says of itself and its children.
type state struct {
	Nonce      string    `json:"nonce"`
	Phase      string    `json:"phase"`
	Why        string    `json:"why"`
	BootID     string    `json:"boot_id"`
	Binary     string    `json:"binary"`
	Started    time.Time `json:"started"`
	Supervisor process   `json:"supervisor"`
	Processes  []process `json:"processes"`
}

// process names one process beyond doubt.
type process struct {
	Name  string `json:"name"`
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

// runs tells whether this very process is still there, in the boot in which it was recorded.
func (p process) runs(boot string) bool {
	return p.PID > 0 && p.Start != "" && boot == bootID() && startMark(p.PID) == p.Start
}

// record is what the start found out; URL is known before the servers run, the rest once they are ready.
type record struct {
	Nonce      string `json:"nonce"`
	URL        string `json:"url"`
	EtcdURL    string `json:"etcd_url"`
	Ready      bool   `json:"ready"`
	UID        string `json:"kube_system_uid,omitempty"` // the identity of this cluster
	Kubernetes string `json:"kubernetes,omitempty"`
	Etcd       string `json:"etcd,omitempty"`
}

// read fills v from a JSON file of the data directory; a missing file leaves it empty. A file that cannot be parsed is
// an error, not a reason to guess.
func read(dir, name string, v any) error {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("reading %q: %w; `handrail lab down` clears it", filepath.Join(dir, name), err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, append(raw, '\n'))
}

// replace swaps the whole file, readable by its owner only: most of what we write holds a token.
func replace(path string, content []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// supervised tells whether a supervisor lives, even one that has not yet said a word.
func supervised(dir string) bool { return isHeld(filepath.Join(dir, fileAlive)) }
