package stage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// Record is what is kept of a running drill, in drill.json of its directory: a
// later process finds everything that it has to end. It holds no secret.
type Record struct {
	ID        string                 `json:"id"`
	Variant   string                 `json:"variant,omitempty"`
	Nonce     string                 `json:"nonce"` // in the environment of what the drill started
	Started   time.Time              `json:"started"`
	Lab       string                 `json:"lab"`     // data directory, "" of a drill that needs no cluster
	Cluster   string                 `json:"cluster"` // UID of its namespace kube-system
	Namespace lab.Namespace          `json:"namespace"`
	Dir       string                 `json:"dir,omitempty"` // root module, of a drill that has one
	Log       string                 `json:"log,omitempty"` // of the apply
	Suffix    string                 `json:"suffix,omitempty"`
	API       string                 `json:"api,omitempty"`      // URL of the API of the bad provider, of a drill that has one
	Broker    *BrokerRecord          `json:"broker,omitempty"`   // the message broker, of a drill that has one
	Backend   string                 `json:"backend,omitempty"`  // of the state, "" for the one that the drill is written for
	Keeper    *Process               `json:"keeper,omitempty"`   // that keeps the state, where a process of the drill does
	Bucket    *BucketRecord          `json:"bucket,omitempty"`   // the bucket of the state, of a drill that has one
	Program   string                 `json:"program,omitempty"`  // tofu or terraform of such a drill: it goes on with the one that it began with
	UndoTo    string                 `json:"undo_to,omitempty"`  // age recipient of the drill's own key
	Gitops    *GitopsRecord          `json:"gitops,omitempty"`   // the Git server, of a drill with a GitOps controller
	Keycloak  string                 `json:"keycloak,omitempty"` // URL of the stand-in for Keycloak, of a drill that has one
	AWS       string                 `json:"aws,omitempty"`      // URL of the stand-in for AWS, of a drill that has one
	Region    string                 `json:"region,omitempty"`   // its region
	Registry  *RegistryRecord        `json:"registry,omitempty"` // the image registry, of a drill that has one
	Forge     *ForgeRecord           `json:"forge,omitempty"`    // the Gitea of a drill that has one
	Uploads   *UploadsRecord         `json:"uploads,omitempty"`  // the store of objects of a drill that has one
	Replica   string                 `json:"replica,omitempty"`  // context that leads to a copy of the cluster, of a drill that has one
	Folders   []string               `json:"folders,omitempty"`  // outside of its own, which go with it
	Held      []HeldObject           `json:"held,omitempty"`     // what would keep the namespace from going
	Accounts  map[string]string      `json:"accounts,omitempty"` // of the drill's own, to their kubeconfigs
	Processes []Process              `json:"processes,omitempty"`
	Values    map[string]steps.Value `json:"values,omitempty"` // exported
	Ready     bool                   `json:"ready"`            // all is injected but what comes later
	Later     map[string]string      `json:"later,omitempty"`  // gate to begun or done, of what is injected later
	Bundle    string                 `json:"bundle,omitempty"` // of the incident that walks it
}

// HeldObject is an object that the drill makes with finalizers of its own.
type HeldObject struct {
	Path       string   `json:"path"`
	Finalizers []string `json:"finalizers"`
}

// Process leads a group of processes.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // tells it from a later one with its pid
}

const fileRecord = "drill.json"

// Save writes the record down in one step: a reader finds the old one or the new.
func (st *Stage) Save() error {
	raw, err := json.MarshalIndent(st.Rec, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(st.Home, fileRecord)
	if err := os.WriteFile(path+".tmp", append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing down the drill: %w", err)
	}
	return os.Rename(path+".tmp", path)
}

// Load reads the record of the drill whose directory this is; fs.ErrNotExist when
// there is none.
func Load(home string) (Record, error) {
	var rec Record
	raw, err := os.ReadFile(filepath.Join(home, fileRecord))
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(raw, &rec); err != nil {
		return rec, fmt.Errorf("reading %s: %w", fileRecord, err)
	}
	return rec, nil
}

// BrokerRecord is the message broker of a drill. The passwords of its accounts are
// in files of their own.
type BrokerRecord struct {
	Service string `json:"service"` // of the namespace, that it stands behind
	API     string `json:"api"`     // URL of its management
	AMQP    string `json:"amqp"`    // host:port
	PID     int    `json:"pid"`
}

// ForgeRecord is the Gitea of a drill and its one repository. The tokens of its accounts are in files of their own.
type ForgeRecord struct {
	URL   string `json:"url"`
	Owner string `json:"owner"`
	Name  string `json:"name"`
}
