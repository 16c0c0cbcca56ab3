package own

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"handrail/steps/strict"
)

// Bounds of a document: how deep it may be nested, and how many values it may hold.
const (
	mostDeep   = 100
	mostValues = 200_000
)

// document is what CEL is given: maps with texts for keys, lists, texts, whole numbers
// where they are whole, and null.
func document(raw []byte, as string) (any, error) {
	if len(raw) > mostRead {
		return nil, fmt.Errorf("%d bytes, more than the %d that a document may have", len(raw), mostRead)
	}
	switch as {
	case asText:
		if !utf8.Valid(raw) {
			return nil, errors.New("it is no text")
		}
		return string(raw), nil
	case asYAML:
		n, err := strict.Single(raw)
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a YAML document: %w", err)
		}
		left := mostValues
		return ofYAML(n, 0, &left)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("it is empty")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	left := mostValues
	return ofJSON(doc, 0, &left)
}

func within(depth int, left *int) error {
	*left--
	switch {
	case depth > mostDeep:
		return fmt.Errorf("nested more than %d deep", mostDeep)
	case *left < 0:
		return fmt.Errorf("more than %d values", mostValues)
	}
	return nil
}

func ofJSON(v any, depth int, left *int) (any, error) {
	if err := within(depth, left); err != nil {
		return nil, err
	}
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if v[k], err = ofJSON(x, depth+1, left); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, x := range v {
			if v[i], err = ofJSON(x, depth+1, left); err != nil {
				return nil, err
			}
		}
	case json.Number:
		return number(v.String())
	}
	return v, nil
}

func number(text string) (any, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %.40q is out of range", text)
	}
	return f, nil
}

// ofYAML refuses what shows less than it means: aliases, anchors, tags, merge keys, and
// a key that stands twice.
func ofYAML(n *yaml.Node, depth int, left *int) (any, error) {
	if err := within(depth, left); err != nil {
		return nil, err
	}
	if why := strict.Odd(n); why != strict.Plain {
		return nil, fmt.Errorf("line %d has an %s, which is not followed", n.Line, why)
	}
	switch n.Kind {
	case yaml.MappingNode:
		members, at, why := strict.Members(n)
		if why != strict.Plain {
			return nil, fmt.Errorf("line %d: %s", at.Line, why)
		}
		out := make(map[string]any, len(members))
		for k, x := range members {
			v, err := ofYAML(x, depth+1, left)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, x := range n.Content {
			v, err := ofYAML(x, depth+1, left)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int":
		var i int64
		if err := n.Decode(&i); err != nil {
			return n.Value, nil
		}
		return i, nil
	case "!!float":
		var f float64
		err := n.Decode(&f)
		return f, err
	}
	return n.Value, nil
}
