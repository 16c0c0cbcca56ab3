package runbooks

import (
	"testing"

	"handrail/steps/catalog"
)

func TestLibraryLoadsAndCompiles(t *testing.T) {
	t.Parallel()
	lib, err := Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if err := b.Check(); err != nil {
			t.Errorf("%s:\n%v", b.ID, err)
		}
	}
}
