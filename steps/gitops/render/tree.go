package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// tree is what a commit holds, by paths from the top.
type tree map[string][]byte

// kustomizationNames are those under which kustomize looks for one.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// in lists the files of a directory, below it too where that is asked for.
func (t tree) in(dir string, below bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if within(name, dir) && (below || path.Dir(name) == path.Clean(dir)) {
			out = append(out, name)
		}
	}
	return out
}

// within reports whether name is below dir.
func within(name, dir string) bool {
	dir = path.Clean(dir)
	return dir == "." || strings.HasPrefix(name, dir+"/")
}

// kustomization is the file of that name in a directory, "" for none.
func (t tree) kustomization(dir string) string {
	for _, name := range kustomizationNames {
		if _, ok := t[path.Join(dir, name)]; ok {
			return path.Join(dir, name)
		}
	}
	return ""
}

// tool is what Argo CD takes for a path without a word of the application.
func (t tree) tool(dir string) (tool string, err error) {
	for _, name := range t.in(dir, false) {
		switch base := path.Base(name); {
		case base == "Chart.yaml":
			tool = Helm
		case strings.HasPrefix(base, ".argocd-source"):
			return "", notHere("%s changes the parameters of the application, and is not followed here", name)
		}
	}
	switch {
	case tool != "":
	case t.kustomization(dir) != "":
		tool = Kustomize
	default:
		tool = Directory
	}
	return tool, nil
}

// manifest reports whether a file is taken for one by its name.
func manifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// directory reads plain manifests, as Argo CD does.
func (t tree) directory(o Order) ([]map[string]any, error) {
	var out []map[string]any
	for _, name := range t.in(o.Path, o.Recurse) {
		if path.Ext(name) == ".jsonnet" {
			return nil, notHere("%s is Jsonnet, which is not rendered here", name)
		}
		if !manifest(name) {
			continue
		}
		objects, err := Documents(name, t[name])
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// Documents are the objects of one file; those of a list stand for themselves.
func Documents(name string, text []byte) ([]map[string]any, error) {
	if bytes.HasPrefix(text, []byte("version https://git-lfs.")) {
		return nil, notHere("%s is kept in Git LFS, and not in the clone", name)
	}
	var out []map[string]any
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var o map[string]any
		err := d.Decode(&o)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case len(o) == 0:
			continue
		}
		kind, _ := o["kind"].(string)
		version, _ := o["apiVersion"].(string)
		if kind == "" || version == "" {
			return nil, fmt.Errorf("%s: an object has no kind or no apiVersion", name)
		}
		items, is := o["items"].([]any)
		if !is || !strings.HasSuffix(kind, "List") {
			out = append(out, o)
			continue
		}
		for _, item := range items {
			m, ok := item.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: an item of a list is no object", name)
			}
			out = append(out, m)
		}
	}
}
