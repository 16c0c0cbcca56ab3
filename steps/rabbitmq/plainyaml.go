package rabbitmq

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// mapping returns the values of a mapping by key. allowed are the keys that it
// may have, none for any.
func mapping(n *yaml.Node, what string, allowed ...string) (map[string]*yaml.Node, error) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s must be a mapping of keys to values", what)
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || value.Kind == yaml.AliasNode || value.Style&yaml.TaggedStyle != 0:
			return nil, fmt.Errorf("line %d: %s has an alias, a merge key or a tag: write it out", key.Line, what)
		case out[key.Value] != nil:
			return nil, fmt.Errorf("line %d: %s has the key %q twice", key.Line, what, clip(key.Value, 80))
		case len(allowed) > 0 && !slices.Contains(allowed, key.Value):
			return nil, fmt.Errorf("line %d: %s has no key %q, only %s", key.Line, what, clip(key.Value, 80), strings.Join(allowed, ", "))
		}
		out[key.Value] = value
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

// clip bounds a text that others wrote.
func clip(text string, most int) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
