package runbooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
)

// Limits of a document: a runbook of a team is a few KiB and eight levels deep.
const (
	maxSize  = 1 << 20
	maxDepth = 32
)

// reader walks one document and gathers what is wrong with it.
type reader struct {
	file     string
	lines    [][]rune
	cat      steps.Catalog
	book     *Runbook
	problems Problems
}

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	r.failAt(n.Line, n.Column, hint, format, args...)
}

func (r *reader) failAt(line, col int, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, line, col, fmt.Sprintf(format, args...), hint})
}

// document parses src to the one mapping it must be. nil: see the problems.
func (r *reader) document(src []byte) *yaml.Node {
	if len(src) > maxSize {
		r.failAt(1, 0, "", "the document has %d bytes, more than the %d that a runbook may have", len(src), maxSize)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			r.failAt(1, 0, "handrail runbook new writes a skeleton", "the document is empty")
		} else {
			r.syntax(err)
		}
		return nil
	}
	if err := dec.Decode(&more); err == nil {
		r.fail(&more, "one file is one runbook", "a second document")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		r.fail(&doc, "", "a runbook is a mapping of keys to values")
		return nil
	}
	if !r.plain(doc.Content[0], 1) {
		return nil
	}
	return doc.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax reports an error of the YAML parser, which names a line but for the
// first one, and never a column.
func (r *reader) syntax(err error) {
	msg, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		msg = msg[len(m[0]):]
	}
	r.failAt(line, 0, "", "not YAML: %s", msg)
}

// plain refuses what could make a document mean something else than it shows:
// tags (`when: !facts.x` is a tag with an empty value), anchors, aliases, merge
// keys and repeated keys.
func (r *reader) plain(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		r.fail(n, "", "nested more than %d deep", maxDepth)
		return false
	}
	before := len(r.problems)
	switch {
	case n.Kind == yaml.AliasNode:
		r.fail(n, "write it out", "an alias")
		return false
	case n.Anchor != "":
		r.fail(n, "write it out where it is needed", "an anchor")
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, `put an expression that begins with ! in quotes`, "a YAML tag %q", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			switch line, dup := seen[key.Value]; {
			case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
				r.fail(key, "write it out", "a merge key")
			case key.Kind != yaml.ScalarNode:
				r.fail(key, "", "a key must be a word")
			case dup:
				r.fail(key, "", "key %q again, first on line %d", key.Value, line)
			}
			seen[key.Value] = key.Line
		}
	}
	for _, c := range n.Content {
		r.plain(c, depth+1)
	}
	return len(r.problems) == before
}

// fields returns the values of a mapping by key. Keys that are not among the
// allowed ones are reported with the nearest of them.
func (r *reader) fields(n *yaml.Node, what string, allowed ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "keys: "+strings.Join(allowed, ", "), "%s must be a mapping of keys to values", what)
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, ok := n.Content[i], false
		for _, a := range allowed {
			ok = ok || a == key.Value
		}
		if !ok {
			r.fail(key, meant(key.Value, allowed), "%s has no key %q", what, key.Value)
			continue
		}
		out[key.Value] = n.Content[i+1]
	}
	return out
}

// items returns the items of a list, none when n is nil.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "begin each item with a dash", "%s must be a list", what)
		return nil
	}
	return n.Content
}

// str returns the text of a scalar, "" when n is nil or not a text.
func (r *reader) str(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		r.fail(n, "", "%s must be a text", what)
		return ""
	}
	if n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		r.fail(n, "", "%s is empty", what)
		return ""
	}
	return n.Value
}

// oneOf returns the text of a scalar that must be one of the values.
func (r *reader) oneOf(n *yaml.Node, what string, values []string) string {
	s := r.str(n, what)
	if s == "" {
		return ""
	}
	for _, v := range values {
		if v == s {
			return s
		}
	}
	r.fail(n, meant(s, values), "%s cannot be %q", what, s)
	return ""
}

// flag returns a yes or no, false when n is nil.
func (r *reader) flag(n *yaml.Node, what string) bool {
	s := r.str(n, what)
	if s != "" && s != "true" && s != "false" {
		r.fail(n, "", "%s must be true or false, not %q", what, s)
	}
	return s == "true"
}

// number returns a whole number in a range, 0 when n is nil.
func (r *reader) number(n *yaml.Node, what string, low, high int) int {
	s := r.str(n, what)
	if s == "" {
		return 0
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < low || i > high {
		r.fail(n, "", "%s must be a whole number from %d to %d, not %q", what, low, high, s)
		return 0
	}
	return i
}

// value reads the text of a scalar as a value of type t.
func (r *reader) value(n *yaml.Node, what string, t steps.Type) (steps.Value, bool) {
	s := r.str(n, what)
	if s == "" {
		return steps.Value{}, false
	}
	v, err := steps.ParseValue(t, s)
	if err != nil {
		r.fail(n, "", "%s: %v", what, err)
		return steps.Value{}, false
	}
	return v, true
}

// locate returns the line and column of a rune inside the text of a scalar: the
// exact place where the text stands in one line or in a literal block as it is,
// else the beginning of the scalar.
func (r *reader) locate(n *yaml.Node, offset int) (line, col int) {
	value := []rune(n.Value)
	offset = min(max(offset, 0), len(value))
	if n.Style&yaml.LiteralStyle != 0 {
		before := string(value[:offset])
		row := n.Line + 1 + strings.Count(before, "\n")
		if row <= len(r.lines) {
			text := strings.TrimSuffix(string(value), "\n")
			start := strings.LastIndex(before, "\n") + 1
			current, _, _ := strings.Cut(text[min(start, len(text)):], "\n")
			if i := strings.Index(string(r.lines[row-1]), current); i >= 0 {
				return row, i + 1 + len([]rune(before[start:]))
			}
		}
		return n.Line, n.Column
	}
	if n.Line >= 1 && n.Line <= len(r.lines) && n.Column >= 1 && n.Column <= len(r.lines[n.Line-1]) {
		rest := r.lines[n.Line-1][n.Column-1:]
		for i := 0; i < 2 && i <= len(rest); i++ {
			if strings.HasPrefix(string(rest[i:]), n.Value) {
				return n.Line, n.Column + i + offset
			}
		}
	}
	return n.Line, n.Column
}
