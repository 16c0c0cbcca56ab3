package strict

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"gopkg.in/yaml.v3"
)

// SecondError says that something stands after the first document.
type SecondError struct {
	Line, Col int
	Err       error // why it cannot be read, nil for a second document
}

func (e *SecondError) Error() string {
	if e.Err != nil {
		return "after the first document: " + e.Err.Error()
	}
	return "it holds more than one document"
}

func (e *SecondError) Unwrap() error { return e.Err }

// Single parses src to the root of its one document. The error is [io.EOF] where
// there is none, a [SecondError], or that of the YAML parser. A caller that has a
// grammar of its own reads the nodes with [Members] and [Odd]; a [Reader] is for
// documents with hints and columns.
func Single(src []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &SecondError{Line: second.Line, Col: second.Column}
	case !errors.Is(err, io.EOF):
		return nil, &SecondError{Err: err}
	case len(doc.Content) != 1:
		return nil, io.EOF
	}
	return doc.Content[0], nil
}

// Stream parses each document of src, as what others wrote may have several and is not held to a grammar of ours. Aliases are
// not followed, so it is bounded by its text.
func Stream(src []byte) (docs []*yaml.Node, err error) {
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, &doc)
	}
}

// Oddity is why a node is not plain: what it shows is not all that it means.
type Oddity string

// The oddities of nodes, and those of the keys of a mapping.
const (
	Plain      Oddity = ""
	Alias      Oddity = "alias"
	Anchor     Oddity = "anchor"
	Tagged     Oddity = "tag"
	NoMapping  Oddity = "no mapping"
	NoWord     Oddity = "key is no word" // a merge key, or a mapping for a key
	UnknownKey Oddity = "unknown key"
	Repeated   Oddity = "repeated key"
)

// Odd says why one node is not plain.
func Odd(n *yaml.Node) Oddity {
	switch {
	case n.Kind == yaml.AliasNode:
		return Alias
	case n.Anchor != "":
		return Anchor
	case n.Style&yaml.TaggedStyle != 0:
		return Tagged
	}
	return Plain
}

// OddIn is Odd of the first node below n, or n itself, that is not plain.
func OddIn(n *yaml.Node) (*yaml.Node, Oddity) {
	if why := Odd(n); why != Plain {
		return n, why
	}
	for _, c := range n.Content {
		if at, why := OddIn(c); why != Plain {
			return at, why
		}
	}
	return nil, Plain
}

// Members returns the values of a mapping by key. known are the keys that it may
// have, none for any. Where one is unknown, repeated or no word, at is that key.
func Members(n *yaml.Node, known ...string) (out map[string]*yaml.Node, at *yaml.Node, why Oddity) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, n, NoMapping
	}
	out = make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			return nil, key, NoWord
		case out[key.Value] != nil:
			return nil, key, Repeated
		case len(known) > 0 && !slices.Contains(known, key.Value):
			return nil, key, UnknownKey
		}
		out[key.Value] = n.Content[i+1]
	}
	return out, nil, Plain
}

// Node is a node of a document, for readers that walk none themselves.
type Node = yaml.Node

// The kinds of nodes that such readers tell apart.
const (
	Mapping  = yaml.MappingNode
	Sequence = yaml.SequenceNode
	Scalar   = yaml.ScalarNode
)

// At returns the value of a key of a mapping, nil for none.
func At(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
