package settings

import (
	"errors"
	"io/fs"
	"strings"
	"sync"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
)

// embedded are the runbooks that come with the program. They are the same as long as it runs, and
// every screen asks for some: they are read once.
var embedded = sync.OnceValues(func() ([]*runbooks.Runbook, error) { return runbooks.Library(catalog.New()) })

// single are those of them that were asked for by their id, before all were: to begin with one waits for no other.
var single sync.Map // of id to func() (*runbooks.Runbook, error)

// embeddedOne reads one. The error wraps fs.ErrNotExist where none has the id.
func embeddedOne(id string) (*runbooks.Runbook, error) {
	read, _ := single.LoadOrStore(id, sync.OnceValues(func() (*runbooks.Runbook, error) { return runbooks.OfLibrary(id, catalog.New()) }))
	return read.(func() (*runbooks.Runbook, error))() //nolint:forcetypeassert // nothing else is stored
}

// Embedded returns a runbook that comes with the program: drills are about those.
func Embedded(id string) (*runbooks.Runbook, error) {
	rb, err := embeddedOne(id)
	if err == nil {
		return rb, rb.Check()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list, err := embedded()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, rb := range list {
		ids = append(ids, rb.ID)
	}
	return nil, process.Unknown("runbook", id, ids, "handrail runbook list")
}

// Library returns the runbooks that an id can mean, by id. What they recognise is shown; to
// begin with one that does not come with the program asks for trust.
func Library(p *process.Program) ([]*runbooks.Runbook, error) {
	s, err := ShelfOf(p)
	return s.Runbooks(), err
}

// Runbook finds a runbook to begin with, by its id or as a file. One that does not come with
// the program must be trusted as it is.
func Runbook(p *process.Program, name string) (*runbooks.Runbook, error) {
	b, err := Look(p, name)
	if err != nil {
		return nil, err
	}
	if err := b.Check(p); err != nil {
		return nil, err
	}
	return b.Runbook, nil
}

// Pairs reads parameters that are given as NAME=VALUE.
func Pairs(pairs []string) (map[string]string, error) {
	given := map[string]string{}
	for _, kv := range pairs {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, process.Usage("write -p name=value", "parameter %q has no value", kv)
		}
		given[name] = value
	}
	return given, nil
}

// Bind holds parameters to what a runbook declares.
func Bind(rb *runbooks.Runbook, given map[string]string) (steps.Params, error) {
	params, err := rb.Bind(given)
	if err != nil {
		return nil, process.Usage("see `handrail runbook show "+rb.ID+"`", "%w", err)
	}
	return params, nil
}
