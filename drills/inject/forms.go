package inject

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// The patterns of what a document names.
var (
	IDForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	NameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	tagForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,40}$`)
	FileForm = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)
)

// Forms are what the fields of injections are read as.
func Forms() map[string]strict.Form {
	return map[string]strict.Form{
		"address":     like(addressForm),
		"definitions": definitions,
		"file":        file,
		"file name":   like(FileForm),
		"id":          like(IDForm),
		"id or none":  idOrNone,
		"json":        jsonValue,
		"manifests":   manifests,
		"name":        like(NameForm),
		"pointer":     like(pointerForm),
		"pointers":    pointers,
		"resource":    resource,
		"signal":      oneOf(stage.SignalNames()),
		"version":     like(tagForm),
		"workspace":   workspace,
		"writable":    writable,
	}
}

func like(pattern *regexp.Regexp) strict.Form {
	return func(r *strict.Reader, n *strict.Node, what string) any { return r.Match(n, what, pattern) }
}

func oneOf(words []string) strict.Form {
	return func(r *strict.Reader, n *strict.Node, what string) any { return r.OneOf(n, what, words) }
}

func writable(r *strict.Reader, n *strict.Node, _ string) any {
	return r.OneOf(n, "resource", slices.Sorted(maps.Keys(Writable())))
}

// idOrNone reads an id, or "" that turns something off.
func idOrNone(r *strict.Reader, n *strict.Node, what string) any {
	name := n.Value
	if name != "" {
		name = r.Match(n, what, IDForm)
	}
	return &name
}

// file reads the file beside the drill that a text names.
func file(r *strict.Reader, n *strict.Node, what string) any {
	_, src, ok := r.Beside(n, what)
	if !ok {
		return nil
	}
	return src
}

// jsonValue reads what YAML holds as JSON does.
func jsonValue(r *strict.Reader, n *strict.Node, what string) any {
	var v any
	err := n.Decode(&v)
	if err == nil {
		var raw []byte
		if raw, err = json.Marshal(v); err == nil {
			v = nil
			err = json.Unmarshal(raw, &v)
		}
	}
	if err != nil {
		r.Fail(n, "", "%s: %v", what, err)
		return nil
	}
	return v
}

// pointers reads values by JSON pointers.
func pointers(r *strict.Reader, n *strict.Node, what string) any {
	out := map[string]any{}
	r.Each(n, what, func(key, value *strict.Node) {
		if !pointerForm.MatchString(key.Value) {
			r.Fail(key, "as /roleRef/name", "%q is not a JSON pointer", key.Value)
			return
		}
		out[key.Value] = jsonValue(r, value, key.Value)
	})
	return out
}
