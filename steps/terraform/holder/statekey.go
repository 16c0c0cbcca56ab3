package holder

import (
	"fmt"
	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"path/filepath"
	"strings"
)

// stateKey names the states of a root module, whatever the workspace.
type stateKey struct {
	what  string // backend and place in it
	where string // server or namespace, "" where the environment says it
}

func (k stateKey) known() bool { return k.what != "" }

// same reports whether two root modules use one state. One that leaves the server
// to its environment may mean any.
func (k stateKey) same(o stateKey) bool {
	return k.known() && k.what == o.what && (k.where == o.where || k.where == "" || o.where == "")
}

// places are the settings by which a backend finds a state, and those by which it
// finds the server. All others (credentials, roles, locks, retries) may differ
// between two runs on one state. A cluster has many addresses, so that none counts.
var places = map[string]struct{ what, where []string }{
	"kubernetes": {[]string{"secret_suffix"}, []string{"namespace"}},
	"s3":         {[]string{"bucket", "key"}, []string{"endpoint", "endpoints"}},
	"gcs":        {[]string{"bucket", "prefix"}, nil},
	"azurerm":    {[]string{"container_name", "key"}, []string{"storage_account_name"}},
	"consul":     {[]string{"path"}, []string{"address"}},
	"pg":         {[]string{"schema_name", "table_name"}, nil},
	"http":       {[]string{"address"}, nil},
}

// keyOf names the states of a root module.
func keyOf(w module.Workdir) stateKey {
	if w.Backend == "local" {
		state, _ := backend.LocalFiles(module.Workdir{Dir: w.Dir, Config: w.Config, Space: "default"})
		return stateKey{what: "local/" + filepath.Join(resolved(filepath.Dir(state)), filepath.Base(state))}
	}
	at, ok := places[w.Backend]
	if !ok {
		return stateKey{what: fmt.Sprintf("%s/%v", w.Backend, w.Config)}
	}
	return stateKey{what: w.Backend + settingsOf(w, at.what), where: settingsOf(w, at.where)}
}

// settingsOf joins settings, "" where none of them is set.
func settingsOf(w module.Workdir, names []string) string {
	var out strings.Builder
	for _, name := range names {
		if v := w.Config[name]; v != nil && fmt.Sprint(v) != "" {
			fmt.Fprintf(&out, "/%s=%v", name, v)
		}
	}
	return out.String()
}

// readBackendKey names the states that a directory can lock, whatever the
// workspace; data is the TF_DATA_DIR of the process that works there.
func readBackendKey(env steps.Env, dir, data string) (stateKey, error) {
	env.Environ = nil // of the operator: another process has its own
	if data != "" {
		env.Environ = []string{dataVariable + "=" + data}
	}
	w, err := module.Read(env, dir)
	if err != nil {
		return stateKey{}, err
	}
	return keyOf(w), nil
}
