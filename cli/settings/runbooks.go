package settings

import (
	"strings"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
)

// Library returns the runbooks of the program, by id.
func Library(p *process.Program) ([]*runbooks.Runbook, error) { return runbooks.Library(catalog.New()) }

// Runbook finds one runbook by its id.
func Runbook(p *process.Program, id string) (*runbooks.Runbook, error) {
	list, err := Library(p)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, rb := range list {
		if rb.ID == id {
			return rb, rb.Check()
		}
		ids = append(ids, rb.ID)
	}
	return nil, process.Unknown("runbook", id, ids, "handrail runbook list")
}

// Bound is a runbook with the parameters of the -p flags.
func Bound(p *process.Program, id string, pairs []string) (*runbooks.Runbook, steps.Params, error) {
	rb, err := Runbook(p, id)
	if err != nil {
		return nil, nil, err
	}
	given, err := Pairs(pairs)
	if err != nil {
		return nil, nil, err
	}
	params, err := Bind(rb, given)
	return rb, params, err
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
