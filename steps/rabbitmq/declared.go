package rabbitmq

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"handrail/steps"

	"gopkg.in/yaml.v3"
)

const (
	largestDeclared = 1 << 20
	mostDeclared    = 10_000
	deepestArgument = 20
)

// declaration is what a virtual host is to have.
type declaration struct {
	bindings []binding // each once
	twice    int       // entries that say what another one says
	others   int       // entries of other virtual hosts
}

var errDeclared = errors.New("not a list of declared bindings")

// parseDeclared reads a list of bindings, or exported definitions, of which it
// takes the list below bindings. An empty list is an error: nothing missing of
// nothing declared would look like all is well.
func parseDeclared(raw []byte, vhost string) (declaration, error) {
	bad := func(format string, args ...any) (declaration, error) {
		return declaration{}, fmt.Errorf("%w: %s", errDeclared, fmt.Sprintf(format, args...))
	}
	if len(raw) > largestDeclared {
		return bad("it is over %d kB", largestDeclared>>10)
	}
	list, err := document(raw)
	if err != nil {
		return bad("%v", err)
	}
	if list.Kind == yaml.MappingNode {
		f, err := mapping(list, "the document")
		if err != nil {
			return bad("%v", err)
		}
		list = f["bindings"]
	}
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) > mostDeclared {
		return bad("write a list of at most %d bindings, by itself or below bindings", mostDeclared)
	}
	var d declaration
	seen := map[string]bool{}
	for _, item := range list.Content {
		b, of, err := parseDeclaredBinding(item)
		if err != nil {
			return bad("line %d: %v", item.Line, err)
		}
		if of != nil && *of != vhost {
			d.others++
			continue
		}
		id := fmt.Sprintf("%q %s", b.route(), b.Arguments)
		if seen[id] {
			d.twice++
			continue
		}
		seen[id] = true
		d.bindings = append(d.bindings, b)
	}
	if len(d.bindings) == 0 {
		return bad("it declares nothing for the virtual host %q (%d entries are of others)", vhost, d.others)
	}
	return d, nil
}

func parseDeclaredBinding(n *yaml.Node) (b binding, vhost *string, err error) {
	f, err := mapping(n, "a binding", "source", "destination", "destination_type", "routing_key", "arguments", "vhost", "properties_key")
	if err != nil {
		return b, nil, err
	}
	for _, key := range []string{"source", "destination"} {
		if f[key] == nil {
			return b, nil, fmt.Errorf("%s is missing", key)
		}
	}
	for _, key := range sortedKeys(f) {
		v := f[key]
		if key == "arguments" {
			continue
		}
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" && v.Value != "" || len(v.Value) > longestName || !utf8.ValidString(v.Value) {
			return b, nil, fmt.Errorf("%s must be a text of at most %d bytes", key, longestName)
		}
	}
	b = binding{Source: scalar(f["source"]), Destination: scalar(f["destination"]), Type: scalar(f["destination_type"]), Key: scalar(f["routing_key"])}
	if b.Type == "" {
		b.Type = toQueue
	}
	if b.Destination == "" || b.Type != toQueue && b.Type != toExchange {
		return b, nil, fmt.Errorf("destination is empty, or destination_type neither queue nor exchange")
	}
	if n := f["vhost"]; n != nil {
		vhost = &n.Value
	}
	if n := f["arguments"]; n != nil {
		v, err := plainValue(n, 0)
		if err != nil {
			return b, nil, err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return b, nil, fmt.Errorf("arguments: %w", err)
		}
		if b.Arguments, err = sameForm(raw); err != nil {
			return b, nil, err
		}
	}
	return b, vhost, nil
}

// plainValue is a value of YAML as JSON has it.
func plainValue(n *yaml.Node, depth int) (any, error) {
	switch {
	case depth > deepestArgument:
		return nil, fmt.Errorf("arguments are nested more than %d deep", deepestArgument)
	case n.Tag == "!!timestamp":
		return n.Value, nil // a text, in JSON
	case n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0:
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %s", n.Line, steps.Clip(err.Error(), 200))
		}
		return v, nil
	case n.Kind == yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			var err error
			if out[i], err = plainValue(item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case n.Kind == yaml.MappingNode:
		f, err := mapping(n, "an argument")
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		for _, key := range sortedKeys(f) {
			if out[key], err = plainValue(f[key], depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("line %d: an alias or a tag in arguments: write it out", n.Line)
}
