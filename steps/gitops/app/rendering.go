package app

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// Rendering is what an application says of how its manifests are made.
type Rendering struct {
	Tool    string // kustomize, directory, generated, helm, plugin; "" for what the path tells
	Recurse bool   // directories below the path count
	// Namespace is given to what has none; with Override, to everything that may have one.
	Namespace string
	Override  bool
	// Changes are the fields of the application that change what the tool makes, in order
	// of name. What they make of it is not worked out.
	Changes []string
}

// argoRendering is how Argo CD makes the manifests of a source.
func argoRendering(s argoSource, namespace string) Rendering {
	r := Rendering{Namespace: namespace}
	// The order in which Argo CD looks.
	switch {
	case s.Chart != "" || set(s.Helm):
		r.Tool = "helm"
	case set(s.Plugin):
		r.Tool = "plugin"
	case set(s.Kustomize):
		r.Tool = "kustomize"
		r.Changes = others(s.Kustomize, "source.kustomize.", "version")
	case set(s.Directory):
		r.Tool = "directory"
		var d struct {
			Recurse bool `json:"recurse"`
		}
		if json.Unmarshal(s.Directory, &d) != nil {
			r.Changes = []string{"source.directory"}
			break
		}
		r.Recurse = d.Recurse
		r.Changes = others(s.Directory, "source.directory.", "recurse")
	}
	return r
}

// fluxRendering is how Flux makes the manifests of a Kustomization.
func fluxRendering(o Kustomization) Rendering {
	s := o.Spec
	r := Rendering{Tool: "generated", Namespace: s.TargetNamespace, Override: s.TargetNamespace != ""}
	for name, raw := range map[string]json.RawMessage{
		"patches": s.Patches, "images": s.Images, "components": s.Components, "postBuild": s.PostBuild, "commonMetadata": s.CommonMetadata,
		"namePrefix": s.NamePrefix, "nameSuffix": s.NameSuffix, "ignoreMissingComponents": s.IgnoreMissing,
	} {
		if set(raw) {
			r.Changes = append(r.Changes, "spec."+name)
		}
	}
	slices.Sort(r.Changes)
	return r
}

// set reports whether a field is there and holds something.
func set(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", "{}", "[]", `""`, "false":
		return false
	}
	return true
}

// others are the fields of an object that hold something, but for one.
func others(raw json.RawMessage, prefix, known string) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return []string{strings.TrimSuffix(prefix, ".")}
	}
	var out []string
	for name, value := range fields {
		if name != known && set(value) {
			out = append(out, prefix+name)
		}
	}
	slices.Sort(out)
	return out
}

// Dir is the path of a source from the top of its repository, which is ".".
func (s Source) Dir() string { return path.Clean(strings.TrimPrefix(path.Clean("/"+s.Path), "/")) }
