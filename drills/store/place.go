package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// The backends of a drill beside the cluster of the lab, as a drill names them. A file and the
// bucket of drills/bucket need no server of this package.
const (
	Table  = "s3-dynamodb" // with versions, and a table of locks
	PG     = "pg"
	Consul = "consul"
	GCS    = "gcs"
	Azure  = "azurerm"
	HTTP   = "http"
)

// services are the parts of the lab that a backend runs.
var services = map[string][]string{
	Table: {"s3", "dynamodb"}, PG: {"postgres"}, Consul: {"consul"}, GCS: {"gcs"}, Azure: {"azure"}, HTTP: nil,
}

// Services returns the parts of the lab that a backend runs; ok says whether it is one of this package.
func Services(backend string) (names []string, ok bool) {
	names, ok = services[backend]
	return names, ok
}

// Plan is what one process of [Serve] is to do.
type Plan struct {
	Backend string   `json:"backend"`
	Unit    string   `json:"unit"`    // name of the state on its server
	People  []string `json:"people"`  // identities
	Trainee string   `json:"trainee"` // the one of them that handrail acts for
	Source  string   `json:"source"`  // clone that the lab is built from, "" for the one that is found
}

// Place is where the state is. It holds the keys of the servers.
type Place struct {
	Plan    Plan                `json:"plan"`
	Type    string              `json:"type"`    // of the backend, as a module names it
	Block   string              `json:"block"`   // body of the backend block
	Environ map[string][]string `json:"environ"` // by identity
	Secrets []string            `json:"secrets"`
	Folders []string            `json:"folders"` // outside of its own, which go with it
	Server  map[string]string   `json:"server"`  // what the owner of the servers needs

	dir string
}

const (
	filePlan  = "plan.json"
	filePlace = "place.json"
	fileLog   = "writes.jsonl"
	fileAged  = "aged" // time at which the servers say that a lock was written
	fileLock  = "lock.json"
	fileState = "terraform.tfstate" // of the server of the http protocol
)

// Prepare makes the folder of a store.
func Prepare(dir string, p Plan) error {
	if _, ok := services[p.Backend]; !ok {
		return fmt.Errorf("a drill keeps no state on %q", p.Backend)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return put(filepath.Join(dir, filePlan), p)
}

// Read returns the place of a folder; fs.ErrNotExist until it is ready.
func Read(dir string) (*Place, error) {
	p := &Place{dir: dir}
	raw, err := os.ReadFile(filepath.Join(dir, filePlace))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	return p, nil
}

// put writes a file that only its owner reads, in one step.
func put(name string, content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(name+".tmp", raw, 0o600), os.Rename(name+".tmp", name))
}

// Foreign are the variables that could lead the tools to another server than that of a drill.
var Foreign = []string{"AWS_", "PG", "CONSUL_", "GOOGLE_", "STORAGE_EMULATOR_HOST", "ARM_", "AZURE_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "SSL_CERT_"}

// give adds to the environment of each identity.
func (p *Place) give(environ ...string) {
	for _, who := range p.Plan.People {
		p.Environ[who] = append(p.Environ[who], environ...)
	}
}

// Names are the backends of this package.
func Names() []string { return slices.Sorted(maps.Keys(services)) }
