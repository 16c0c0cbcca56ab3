package terraform

import (
	"path/filepath"
	"testing"

	"handrail/steps"
)

// TestLocalStateOfAWorkspace: no name leads out of the folder of workspaces.
func TestLocalStateOfAWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"team@prod", "eu+us", "v1:blue", "prod~1", "-x"} {
		l := newLocal(steps.Env{}, workdir{dir: dir, data: filepath.Join(dir, ".terraform"), backend: "local", selected: "default", space: name})
		if filepath.Dir(filepath.Dir(l.path)) != filepath.Join(dir, "terraform.tfstate.d") {
			t.Errorf("%q: state at %s", name, l.path)
		}
	}
}
