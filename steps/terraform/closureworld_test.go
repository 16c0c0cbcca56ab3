package terraform

import (
	"maps"
	"path/filepath"
	"testing"

	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/closure"
)

// TestRunsKeepTheTrust: what real runs write is nothing that a program is started
// from; what chooses the workspace or installs something is.
func TestRunsKeepTheTrust(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", "resource \"terraform_data\" \"a\" {}\n")
	of := func() map[string]string {
		t.Helper()
		root, err := filepath.EvalSymlinks(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		n, err := backend.NamedBy(w.env, root)
		if err != nil {
			t.Fatal(err)
		}
		c, err := closure.Of(closure.Place{Root: root, Data: n.Data, Beside: append(n.Files, n.CLI...)})
		if err != nil {
			t.Fatal(err)
		}
		return c.Files
	}
	before := of()
	for _, args := range [][]string{
		{"apply", "-auto-approve", "-input=false", "-no-color"}, {"plan", "-out=saved", "-input=false", "-no-color"}, {"taint", "-no-color", "terraform_data.a"},
		{"apply", "-auto-approve", "-input=false", "-no-color"}, {"state", "rm", "-no-color", "terraform_data.a"}, {"init", "-input=false", "-no-color"},
	} {
		w.run(args...)
		if !maps.Equal(before, of()) {
			t.Errorf("%q ends the trust", args)
		}
	}
	w.run("workspace", "new", "blue")
	if maps.Equal(before, of()) {
		t.Error("another workspace is selected, and the trust goes on")
	}
}
