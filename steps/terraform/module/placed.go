package module

import (
	"handrail/steps"
)

// Keys of a target that say where a root module is.
const (
	KeyDir       = "directory"
	KeyWorkspace = "workspace"
	KeyBackend   = "backend"
)

// Placed tells from the disk alone where a root module is: its directory, the
// workspace in effect there and its backend. What cannot be told is unknown, and a
// directory that holds no root module tells its name alone.
func Placed(env steps.Env, dir, workspace string) []steps.KV {
	dir = steps.Below(env.Dir, dir)
	in := steps.Params{"dir": steps.PathOf(dir)}
	if workspace != "" {
		in["workspace"] = steps.StringOf(workspace)
	}
	w, err := Open(env, in)
	if err != nil {
		return []steps.KV{{Key: KeyDir, Value: dir}, {Key: KeyWorkspace, Value: workspace}}
	}
	out := []steps.KV{{Key: KeyDir, Value: w.Dir}, {Key: KeyWorkspace, Value: w.Space}, {Key: KeyBackend, Value: w.Backend}}
	for _, name := range []string{"bucket", "key", "prefix", "container_name", "storage_account_name", "address", "path", "schema_name", "secret_suffix", "namespace"} {
		if v, ok := w.Config[name].(string); ok && v != "" {
			out = append(out, steps.KV{Key: KeyBackend, Value: v})
		}
	}
	return out
}
