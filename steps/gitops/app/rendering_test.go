package app

import (
	"slices"
	"testing"
)

// TestRendering: the tool is the one that the controller takes, and what changes its work is
// named.
func TestRendering(t *testing.T) {
	t.Parallel()
	argo := func(source string) string {
		return `{"spec":{"source":{` + source + `},"destination":{"namespace":"shop"}}}`
	}
	for name, of := range map[string]struct {
		group, kind, raw, tool string
		recurse                bool
		changes                []string
	}{
		"by the path":      {ArgoGroup, "Application", argo(`"path":"app"`), "", false, nil},
		"a directory":      {ArgoGroup, "Application", argo(`"directory":{"recurse":true}`), "directory", true, nil},
		"some of it":       {ArgoGroup, "Application", argo(`"directory":{"recurse":false,"include":"*.yaml","jsonnet":{}}`), "directory", false, []string{"source.directory.include"}},
		"a kustomization":  {ArgoGroup, "Application", argo(`"kustomize":{"version":"v5","images":["a=b"],"namePrefix":""}`), "kustomize", false, []string{"source.kustomize.images"}},
		"a chart":          {ArgoGroup, "Application", argo(`"chart":"shop","directory":{"recurse":true}`), "helm", false, nil},
		"values":           {ArgoGroup, "Application", argo(`"helm":{"values":"a: b"}`), "helm", false, nil},
		"a plugin":         {ArgoGroup, "Application", argo(`"plugin":{"name":"x"}`), "plugin", false, nil},
		"what is no tool":  {ArgoGroup, "Application", argo(`"directory":[1]`), "directory", false, []string{"source.directory"}},
		"of Flux":          {KustomizeGroup, "Kustomization", `{"spec":{"targetNamespace":"shop"}}`, "generated", false, nil},
		"of Flux, changed": {KustomizeGroup, "Kustomization", `{"spec":{"targetNamespace":"shop","postBuild":{"substitute":{"a":"b"}},"patches":[{"patch":"x"}],"images":[]}}`, "generated", false, []string{"spec.patches", "spec.postBuild"}},
		"a release":        {HelmGroup, "HelmRelease", `{}`, "helm", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := parsed(t, of.group, of.kind, of.raw)
			if r := a.Rendering; r.Tool != of.tool || r.Recurse != of.recurse || !slices.Equal(r.Changes, of.changes) {
				t.Errorf("%+v", r)
			}
		})
	}
	for in, want := range map[string]string{"": ".", "./app": "app", "/app/": "app", "../../etc": "etc", "a/../..": "."} {
		if got := (Source{Path: in}).Dir(); got != want {
			t.Errorf("Dir(%q) = %q, want %q", in, got, want)
		}
	}
}
