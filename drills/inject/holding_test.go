package inject

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/drills/stage"
)

// TestPublishedFinalizersAreKnown: what a controller makes of published files is freed at the end like what the drill makes.
func TestPublishedFinalizersAreKnown(t *testing.T) {
	t.Parallel()
	p := publish{Files: map[string]string{
		"a.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ledger, finalizers: [archive.example/ledger]}\n",
		"b.yaml":     "apiVersion: example.com/v1\nkind: Other\nmetadata: {name: other, finalizers: [a/b]}\n",
		"Chart.yaml": "apiVersion: v2\nname: shop\n",
		"broken":     "{{ .Values.x }}\n\t: [",
		"empty.yaml": "",
	}}
	var got []stage.HeldObject
	for _, m := range p.holding() {
		got = append(got, m.holds("ns"))
	}
	want := []stage.HeldObject{{Path: "/api/v1/namespaces/ns/configmaps/ledger", Finalizers: []string{"archive.example/ledger"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("holding() (-want +got):\n%s", d)
	}
}
