package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps/stepstest"
)

// The schemas come from a real tofu in an initialised directory, and a
// directory that is not says why there are none. Nothing is written.
func TestLearnSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", `resource "terraform_data" "a" {}`)
	w.run("apply", "-auto-approve", "-no-color", "-input=false")
	before := files(t, w.dir)
	out := stepstest.NewSink()
	if obs, err := probe(t.Context(), w.env, "terraform/plan", nil, out); err != nil || len(obs.Gaps) > 0 || len(out.Schemas) != 1 {
		t.Errorf("plan = %v %v, told %v", obs.Gaps, err, out.Schemas)
	}
	if diff := cmp.Diff(before, files(t, w.dir)); diff != "" {
		t.Errorf("the directory changed:\n%s", diff)
	}
	// One whose providers were never installed.
	if err := os.WriteFile(filepath.Join(w.dir, "more.tf"), []byte("terraform {\n  required_providers {\n    acme = { source = \"registry.invalid/acme/acme\" }\n  }\n}\nresource \"acme_db\" \"a\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if obs, err := probe(t.Context(), w.env, "terraform/plan", nil, out); err != nil || len(obs.Gaps) != 1 || !strings.Contains(obs.Gaps[0], "which attributes the providers call sensitive") || len(out.Schemas) != 1 {
		t.Errorf("without providers: %q %v, told %v", obs.Gaps, err, out.Schemas)
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
