// Package document reads a YAML or JSON document as the JSON values that it means,
// and refuses what two readers could take for different things: explicit tags,
// anchors, merge keys, duplicate keys, a second document, and unquoted words
// such as on and no, which are booleans to kubectl and texts to others.
package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/strict"

	"gopkg.in/yaml.v3"
)

const (
	// MaxSize bounds a document.
	MaxSize = 1 << 20
	// maxDepth bounds how deep values may be nested.
	maxDepth = 64
)

// Error says what in a document cannot be taken, and in which line.
type Error struct {
	Line int // 0 where it is not known
	Why  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Why
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Why)
}

func at(n *yaml.Node, why string, args ...any) error {
	return &Error{n.Line, fmt.Sprintf(why, args...)}
}

// Parse reads the one document of src. Numbers are [json.Number], in the form in
// which they are written.
func Parse(src []byte) (any, error) {
	if len(src) > MaxSize {
		return nil, &Error{Why: fmt.Sprintf("it is longer than %d bytes", MaxSize)}
	}
	root, err := strict.Single(src)
	var second *strict.SecondError
	switch {
	case errors.Is(err, io.EOF):
		return nil, &Error{Why: "it is empty"}
	case errors.As(err, &second):
		return nil, &Error{Why: "it holds more than one document, or something after the first that cannot be read"}
	case err != nil:
		return nil, &Error{Why: "it is neither YAML nor JSON: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	return value(root, 0)
}

func value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, at(n, "it is nested deeper than %d", maxDepth)
	}
	switch strict.Odd(n) {
	case strict.Alias, strict.Anchor:
		return nil, at(n, "anchors and aliases are not taken: write the value where it belongs")
	case strict.Tagged:
		return nil, at(n, "tags are not taken; quote a text that begins with %q", "!")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return mapping(n, depth)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, at(n, "it holds something that is no value")
}

func mapping(n *yaml.Node, depth int) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || strict.Odd(k) != strict.Plain || k.Tag == "!!merge" {
			return nil, at(k, "a key must be a plain text")
		}
		if _, twice := out[k.Value]; twice {
			return nil, at(k, "the key %q is there twice", steps.Clip(k.Value, 60))
		}
		v, err := value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		out[k.Value] = v
	}
	return out, nil
}

var (
	number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	// doubtful are booleans in YAML 1.1, which kubectl reads, and texts in 1.2.
	doubtful = []string{"y", "n", "yes", "no", "on", "off"}
)

func scalar(n *yaml.Node) (any, error) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Value, nil
	}
	if slices.Contains(doubtful, strings.ToLower(n.Value)) {
		return nil, at(n, "%q is a boolean to some and a text to others: quote it, or write true or false", n.Value)
	}
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		switch n.Value {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, at(n, "write %q as true or false, or quote it", n.Value)
	case "!!int", "!!float":
		if !number.MatchString(n.Value) {
			return nil, at(n, "%q is not a JSON number: write it plainly, or quote it", steps.Clip(n.Value, 60))
		}
		return json.Number(n.Value), nil
	case "!!timestamp", "!!str":
		if number.MatchString(n.Value) { // too long for a number of YAML
			return json.Number(n.Value), nil
		}
		return n.Value, nil
	}
	return nil, at(n, "%q cannot be taken: quote it", steps.Clip(n.Value, 60))
}
