package runbooks

import (
	"sync"
	"testing"

	"handrail/evidence/redact"
	"handrail/steps/catalog"
)

// theLibrary is read once for all tests: a runbook does not change.
var theLibrary = sync.OnceValues(func() ([]*Runbook, error) { return Library(catalog.New()) })

func TestLibraryLoadsAndCompiles(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if err := b.Check(); err != nil {
			t.Errorf("%s:\n%v", b.ID, err)
		}
		if line, err := redact.HiddenLine("application/yaml", b.Source, nil); err != nil || line > 0 {
			t.Errorf("%s: a bundle would not keep line %d as it is (%v)", b.ID, line, err)
		}
	}
}
