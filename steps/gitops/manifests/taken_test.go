package manifests

import (
	"fmt"
	"testing"
)

// TestNamedIn: a file narrows what comes of a path only where it names all that it makes.
func TestNamedIn(t *testing.T) {
	t.Parallel()
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
	files := map[string][]byte{
		"app/web.yaml": []byte(web + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n"), "app/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n"),
		"app/README.md": []byte("# web"), "chart/templates/x.yaml": []byte("{{ if .Values.a }}\n" + web + "{{ end }}"), "chart/values.yaml": []byte("a: 1\n"), "gen/x.yaml": []byte("apiVersion: v1\nkind: Job\nmetadata: {generateName: x-}\n"),
	}
	for place, want := range map[string]string{
		"app/web.yaml": "[{apps Deployment web} { Service web}] false", "app": "[{apps Deployment web} { Service web}] false", "app/kustomization.yaml": "[] true", "app/README.md": "[] true",
		"chart/values.yaml": "[] true", "chart": "[] true", "gen": "[] true", "none": "[] true", ".": "[{apps Deployment web} { Service web}] true", "ap": "[] true",
	} {
		named, whole := NamedIn(files, place)
		if got := fmt.Sprint(named, whole); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
}

// FuzzNamedIn: no file of a repository makes the reader fall.
func FuzzNamedIn(f *testing.F) {
	f.Add("a.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: X, metadata: 7}]")
	f.Fuzz(func(_ *testing.T, name, text string) { NamedIn(map[string][]byte{name: []byte(text)}, ".") })
}
