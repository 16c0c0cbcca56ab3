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
	next := "see `handrail runbook list`"
	for _, rb := range list {
		if rb.ID == id {
			return rb, rb.Check()
		}
		if near(id, rb.ID) {
			next = "did you mean " + rb.ID + "?"
		}
	}
	return nil, process.Usage(next, "there is no runbook %q", id)
}

// near reports whether a was probably meant to be b: one contains the other, or
// they share a long beginning.
func near(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return len(a) > 2 && (strings.Contains(b, a) || strings.Contains(a, b) || n >= max(4, len(b)/2))
}

// Bound is a runbook with the parameters of the -p flags.
func Bound(p *process.Program, id string, pairs []string) (*runbooks.Runbook, steps.Params, error) {
	rb, err := Runbook(p, id)
	if err != nil {
		return nil, nil, err
	}
	given := map[string]string{}
	for _, kv := range pairs {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, nil, process.Usage("write -p name=value", "parameter %q has no value", kv)
		}
		given[name] = value
	}
	params, err := rb.Bind(given)
	if err != nil {
		return nil, nil, process.Usage("see `handrail runbook show "+rb.ID+"`", "%w", err)
	}
	return rb, params, nil
}
