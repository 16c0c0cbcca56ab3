package app

import (
	"cmp"
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
	Chart   *Chart // what a chart is given, if the path holds one; nil where it cannot
}

// Chart is what an application gives a chart.
type Chart struct {
	Release   string
	Namespace string // of the release

	Files         []string // of values
	Defaults      bool     // the files are named from the top of the repository, and stand for the chart's own defaults
	IgnoreMissing bool
	From          []ValuesFrom // merged after the files
	Values        string       // YAML, merged after these
	Parameters    []Parameter

	SkipCRDs, SkipTests, SkipSchema bool

	KubeVersion string // "" for that of the cluster
	APIVersions []string

	Generation string  // of Flux: how often the chart's own template in it changed, where files are named; it is part of the version
	ByRevision bool    // of Flux: the chart is packed anew at each commit, else when its version changes
	Record     *Record // what Helm keeps of the release, nil for none
}

// ValuesFrom is a ConfigMap in the namespace of the application that holds values.
type ValuesFrom struct {
	Name, Key string
	Optional  bool
}

// Parameter is one value by its path.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString"`
}

// Record names what Helm keeps of a revision of a release.
type Record struct {
	Namespace, Name string
	Revision        int64
}

// argoRendering is how Argo CD makes the manifests of a source.
func argoRendering(s argoSource, name, namespace string) Rendering {
	r := Rendering{Namespace: namespace}
	// The order in which Argo CD looks.
	switch {
	case s.Chart != "" || set(s.Helm):
		r.Tool = "helm"
		r.Chart, r.Changes = argoChart(s.Helm, name, namespace)
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
	default:
		r.Chart, _ = argoChart(nil, name, namespace)
	}
	return r
}

// argoChart is what Argo CD gives a chart, and the fields that are not followed here.
func argoChart(raw json.RawMessage, name, namespace string) (*Chart, []string) {
	var h struct {
		ReleaseName   string          `json:"releaseName"`
		ValueFiles    []string        `json:"valueFiles"`
		IgnoreMissing bool            `json:"ignoreMissingValueFiles"`
		Values        string          `json:"values"`
		ValuesObject  json.RawMessage `json:"valuesObject"`
		Parameters    []Parameter     `json:"parameters"`
		Files         json.RawMessage `json:"fileParameters"`
		SkipCRDs      bool            `json:"skipCrds"`
		SkipTests     bool            `json:"skipTests"`
		SkipSchema    bool            `json:"skipSchemaValidation"`
		Namespace     string          `json:"namespace"`
		KubeVersion   string          `json:"kubeVersion"`
		APIVersions   []string        `json:"apiVersions"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &h) != nil {
		return nil, []string{"source.helm"}
	}
	var changes []string
	if set(h.Files) {
		changes = append(changes, "source.helm.fileParameters")
	}
	// Argo CD puts the environment of a build where a $ stands.
	if slices.ContainsFunc(h.Parameters, func(p Parameter) bool { return strings.Contains(p.Value, "$") }) {
		changes = append(changes, "source.helm.parameters with a $")
	}
	if slices.ContainsFunc(h.ValueFiles, func(name string) bool { return strings.Contains(name, "$") }) {
		changes = append(changes, "source.helm.valueFiles with a $")
	}
	c := &Chart{Release: cmp.Or(h.ReleaseName, name), Namespace: cmp.Or(h.Namespace, namespace), Files: h.ValueFiles, IgnoreMissing: h.IgnoreMissing, Values: h.Values,
		Parameters: h.Parameters, SkipCRDs: h.SkipCRDs, SkipTests: h.SkipTests, SkipSchema: h.SkipSchema, KubeVersion: h.KubeVersion, APIVersions: h.APIVersions}
	if set(h.ValuesObject) {
		c.Values = string(h.ValuesObject)
	}
	return c, changes
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
