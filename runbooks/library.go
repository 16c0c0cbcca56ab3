package runbooks

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"handrail/steps"
	"handrail/steps/fault"
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
	var names []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), TestSuffix) {
			names = append(names, e.Name())
		}
	}
	// What the first screen waits for is parsed on all processors.
	out, bad := make([]*Runbook, len(names)), make([]error, len(names))
	workers := min(runtime.GOMAXPROCS(0), len(names))
	broken := make([]error, workers)
	var next atomic.Int64
	var work sync.WaitGroup
	for w := range workers {
		work.Add(1)
		go func() {
			defer work.Done()
			defer fault.Into(&broken[w])
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				out[i], bad[i] = fromLibrary(names[i], cat)
			}
		}()
	}
	work.Wait()
	return slices.DeleteFunc(out, func(b *Runbook) bool { return b == nil }), errors.Join(append(bad, broken...)...)
}

// OfLibrary reads the one runbook of the library that has an id. The error wraps [fs.ErrNotExist] where there is none.
func OfLibrary(id string, cat steps.Catalog) (*Runbook, error) {
	if strings.ContainsAny(id, `/\.`) {
		return nil, fmt.Errorf("the library has no runbook %q: %w", id, fs.ErrNotExist)
	}
	return fromLibrary(id+".yaml", cat)
}

// fromLibrary parses one file, nil with an error.
func fromLibrary(file string, cat steps.Catalog) (*Runbook, error) {
	name := path.Join("library", file)
	src, err := library.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the library: %w", err)
	}
	b, err := parseStructure(name, src, cat)
	if err == nil && b.ID+".yaml" != file {
		err = Problems{{File: name, Line: 1, Message: fmt.Sprintf("the id %q is not the name of the file", b.ID)}}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// TestSuffix ends the name of the file with the tests of a runbook, which stands beside it.
const TestSuffix = ".test.yaml"

// LibraryTest gives the tests of a runbook that comes with the program.
func LibraryTest(id string) (file string, src []byte, err error) {
	file = path.Join("library", id+TestSuffix)
	src, err = library.ReadFile(file)
	return file, src, err
}
