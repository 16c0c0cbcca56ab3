package rabbitmq

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/strict"

	"gopkg.in/yaml.v3"
)

// document returns the root of a file, which holds one document.
func document(raw []byte) (*yaml.Node, error) {
	root, err := strict.Single(raw)
	var second *strict.SecondError
	switch {
	case errors.As(err, &second):
		return nil, errors.New("it must hold one document")
	case err != nil:
		return nil, errors.New(steps.Clip(err.Error(), 300))
	}
	return root, nil
}

// mapping returns the values of a mapping by key. allowed are the keys that it
// may have, none for any.
func mapping(n *yaml.Node, what string, allowed ...string) (map[string]*yaml.Node, error) {
	out, at, why := strict.Members(n, allowed...)
	switch why {
	case strict.NoMapping:
		return nil, fmt.Errorf("%s must be a mapping of keys to values", what)
	case strict.Repeated:
		return nil, fmt.Errorf("line %d: %s has the key %q twice", at.Line, what, steps.Clip(at.Value, 80))
	case strict.UnknownKey:
		return nil, fmt.Errorf("line %d: %s has no key %q, only %s", at.Line, what, steps.Clip(at.Value, 80), strings.Join(allowed, ", "))
	}
	for i := 1; i < len(n.Content) && at == nil; i += 2 {
		if odd := strict.Odd(n.Content[i]); odd == strict.Alias || odd == strict.Tagged {
			at = n.Content[i-1]
		}
	}
	if at != nil {
		return nil, fmt.Errorf("line %d: %s has an alias, a merge key or a tag: write it out", at.Line, what)
	}
	return out, nil
}

// scalar is the text of a value, "" where there is none or it is no text.
func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
