package terraform

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
)

func TestSensitivePaths(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := sensitivePaths(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"acme_db":    {"connection", "dump", "pin", "pools.login", "users.keys.pem", "users.login"},
		"acme_token": {"value"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sensitivePaths() differs (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"", "{}", `{"format_version":1}`, `{"format_version":"1.0","provider_schemas":[]}`, "Error: no"} {
		if got, err := sensitivePaths([]byte(broken)); err == nil {
			t.Errorf("sensitivePaths(%q) = %v", broken, got)
		}
	}
}

// The schemas come from a real tofu in an initialised directory, and a
// directory that is not says why there are none. Nothing is written.
func TestLearnSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "local", `resource "terraform_data" "a" {}`)
	w.run("apply", "-auto-approve", "-no-color", "-input=false")
	before := files(t, w.dir)
	dir, err := openWorkdir(w.env, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := newSink()
	if gap := learnSchema(t.Context(), dir, w.tofu, childEnv(w.env), out); gap != "" || len(out.schemas) != 1 {
		t.Errorf("learnSchema() = %q, told %v", gap, out.schemas)
	}
	if diff := cmp.Diff(before, files(t, w.dir)); diff != "" {
		t.Errorf("the directory changed:\n%s", diff)
	}
	// One whose providers were never installed.
	if err := os.WriteFile(filepath.Join(w.dir, "more.tf"), []byte("terraform {\n  required_providers {\n    acme = { source = \"registry.invalid/acme/acme\" }\n  }\n}\nresource \"acme_db\" \"a\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if gap := learnSchema(t.Context(), dir, w.tofu, childEnv(w.env), out); !strings.Contains(gap, "which attributes the providers call sensitive") || len(out.schemas) != 1 {
		t.Errorf("without providers: %q, told %v", gap, out.schemas)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if gap := learnSchema(ended, dir, w.tofu, childEnv(w.env), out); gap == "" {
		t.Error("an ended context is no reason")
	}
	if gap := learnSchema(ended, dir, w.tofu, nil, struct{ steps.Sink }{out}); gap != "" {
		t.Errorf("a sink that takes none: %q", gap)
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
