package backend

import (
	"path/filepath"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// TestLocalStateOfAWorkspace: no name leads out of the folder of workspaces.
func TestLocalStateOfAWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"team@prod", "eu+us", "v1:blue", "prod~1", "-x"} {
		l := newLocal(steps.Env{}, module.Workdir{Dir: dir, Data: filepath.Join(dir, ".terraform"), Backend: "local", Selected: "default", Space: name})
		if filepath.Dir(filepath.Dir(l.path)) != filepath.Join(dir, "terraform.tfstate.d") {
			t.Errorf("%q: state at %s", name, l.path)
		}
	}
}
