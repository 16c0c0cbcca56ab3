package plan

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/module"
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

// What cannot be learned is a gap, unless the sink takes none.
func TestNoSchema(t *testing.T) {
	t.Parallel()
	out := stepstest.NewSink()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	dir := module.Workdir{Dir: t.TempDir()}
	if gap := learnSchema(ended, dir, "/bin/false", nil, out); gap == "" {
		t.Error("an ended context is no reason")
	}
	if gap := learnSchema(t.Context(), dir, "/bin/false", nil, struct{ steps.Sink }{out}); gap != "" {
		t.Errorf("a sink that takes none: %q", gap)
	}
}
