package runbooks

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"strings"

	"handrail/steps"
)

//go:embed library/*.yaml
var library embed.FS

// Library reads the runbooks that come with the program, in order of their
// ids. Their expressions are compiled at the first use of each, since the first
// screen must not wait for them; Check does it at once.
func Library(cat steps.Catalog) ([]*Runbook, error) {
	entries, err := library.ReadDir("library")
	if err != nil {
		return nil, fmt.Errorf("reading the library: %w", err)
	}
	var out []*Runbook
	var bad []error
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), TestSuffix) {
			continue
		}
		name := path.Join("library", e.Name())
		src, err := library.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the library: %w", err)
		}
		b, err := parseStructure(name, src, cat)
		if err == nil && b.ID+".yaml" != e.Name() {
			err = Problems{{File: name, Line: 1, Message: fmt.Sprintf("the id %q is not the name of the file", b.ID)}}
		}
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, b)
	}
	return out, errors.Join(bad...)
}

// TestSuffix ends the name of the file with the tests of a runbook, which stands beside it.
const TestSuffix = ".test.yaml"

// LibraryTest gives the tests of a runbook that comes with the program.
func LibraryTest(id string) (file string, src []byte, err error) {
	file = path.Join("library", id+TestSuffix)
	src, err = library.ReadFile(file)
	return file, src, err
}
