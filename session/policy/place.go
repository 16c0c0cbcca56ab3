package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// placing are the lines of a target that tell a place. Others hold names, digests and
// contents, in which a word proves nothing.
func placing() []string {
	return []string{"server", "context", "namespace", "workspace", "directory", "backend", "state", "state object", "lock object", "marker"}
}

// namespaced is the line of a target that names its object as KIND/NAMESPACE/NAME.
const namespaced = "object"

// Place are the lines of a target that tell its place, with the context that its
// step was given.
func Place(params steps.Params, target []steps.KV) []steps.KV {
	var out []steps.KV
	add := func(key, value string) {
		if kv := (steps.KV{Key: key, Value: value}); value != "" && !slices.Contains(out, kv) {
			out = append(out, kv)
		}
	}
	add(steps.ContextParam, params.Text(steps.ContextParam))
	for _, kv := range target {
		switch {
		case slices.Contains(placing(), kv.Key):
			add(kv.Key, kv.Value)
		case kv.Key == namespaced:
			if parts := strings.Split(kv.Value, "/"); len(parts) == 3 {
				add("namespace", parts[1])
			}
		}
	}
	return out
}

// Resolve adds where a directory leads to: a link called dev may lead to production.
func Resolve(where []steps.KV) []steps.KV {
	for _, kv := range where {
		if kv.Key != "directory" {
			continue
		}
		if real, err := filepath.EvalSymlinks(kv.Value); err == nil && real != kv.Value {
			where = append(where, steps.KV{Key: "directory", Value: real})
		}
	}
	return where
}

// Shown is the target of a gate that was shown, as policy was told of it. A
// journal from before that was kept has the whole target.
func Shown(shown triage.GateShown) []steps.KV {
	if len(shown.Where) > 0 {
		return shown.Where
	}
	return Place(nil, shown.Target)
}
