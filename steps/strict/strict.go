// Package strict reads YAML documents that must mean what they show: runbooks,
// drills, answers, and every file that a team or an operator writes for handrail.
// An unknown or repeated key, a tag, an alias, a merge key, a second document or an
// empty text is refused, with its place.
//
// A [Reader] walks a document and gathers each [Problem] with its line and column,
// and the nearest valid word. [Reader.Struct] fills a struct by the tags of its
// fields; [Reader.Envelope] does so with a whole document. Readers with a grammar of their own take [Single] for
// the one document, [Members] for a mapping and [Odd] for a node, and say in their
// words what is wrong. Nothing else in handrail starts a YAML parser.
//
// It is ground: it imports nothing of handrail, and knows no document.
package strict

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Limits of a document: a runbook of a team is a few KiB and eight levels deep.
const (
	MaxSize  = 1 << 20
	MaxDepth = 32
)

// Version is the apiVersion of every document.
const Version = "handrail/v1"

// Reader walks one document and gathers what is wrong with it.
type Reader struct {
	File     string
	What     string // what the document is, as "a runbook"
	Problems Problems

	Files fs.FS           // where the files are that a document names, beside it; nil for none
	Forms map[string]Form // that the tags of fields name
}

// Fail notes a problem at a node.
func (r *Reader) Fail(n *yaml.Node, hint, format string, args ...any) {
	r.FailAt(n.Line, n.Column, hint, format, args...)
}

// FailAt notes a problem at a line and column.
func (r *Reader) FailAt(line, col int, hint, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{r.File, line, col, fmt.Sprintf(format, args...), hint})
}

// Document parses src to the one mapping it must be. nil: see the problems.
func (r *Reader) Document(src []byte) *yaml.Node {
	root := r.Root(src)
	if root != nil && root.Kind != yaml.MappingNode {
		r.Fail(root, "", "%s is a mapping of keys to values", r.What)
		return nil
	}
	return root
}

// Root parses src to its one document, which may be a list. nil: see the problems.
func (r *Reader) Root(src []byte) *yaml.Node {
	if len(src) > MaxSize {
		r.FailAt(1, 0, "", "the document has %d bytes, more than the %d that %s may have", len(src), MaxSize, r.What)
		return nil
	}
	root, err := Single(src)
	var second *SecondError
	switch {
	case errors.Is(err, io.EOF):
		r.FailAt(1, 0, "", "the document is empty")
		return nil
	case errors.As(err, &second) && second.Err == nil:
		r.FailAt(second.Line, second.Col, "one file is one document", "a second document")
		return nil
	case errors.As(err, &second):
		r.syntax(second.Err)
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	case !r.plain(root, 1):
		return nil
	}
	return root
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax reports an error of the YAML parser, which names a line but for the
// first one, and never a column.
func (r *Reader) syntax(err error) {
	msg, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		msg = msg[len(m[0]):]
	}
	r.FailAt(line, 0, cureOf(msg), "not YAML: %s", msg)
}

// cureOf is what to write instead of what the YAML parser trips over most often.
func cureOf(msg string) string {
	for _, c := range [...]struct{ in, cure string }{
		{"tab character", "indent with spaces"},
		{"cannot start any token", "indent with spaces, and put a text that begins with % @ or ` in quotes"},
		{"mapping values are not allowed", "put a text with a colon and a space in it in quotes"},
		{"did not find expected '-' indicator", "let the keys of one item begin in one column"},
		{"did not find expected key", "let keys begin in one column, and close each quote"},
		{"did not find expected ',' or", "close each bracket, and put a text with ? , or ' in it in double quotes"},
		{"unexpected end of stream", "close each quote"},
		{"could not find expected ':'", "write a colon and a space after the key"},
		{"unknown escape character", `write the backslash twice, or use single quotes`},
	} {
		if strings.Contains(msg, c.in) {
			return c.cure
		}
	}
	return ""
}

// plain refuses what could make a document mean something else than it shows:
// tags (`when: !facts.x` is a tag with an empty value), anchors, aliases, merge
// keys and repeated keys.
func (r *Reader) plain(n *yaml.Node, depth int) bool {
	if depth > MaxDepth {
		r.Fail(n, "", "nested more than %d deep", MaxDepth)
		return false
	}
	before := len(r.Problems)
	switch Odd(n) {
	case Alias:
		r.Fail(n, "write it out", "an alias")
		return false
	case Anchor:
		r.Fail(n, "write it out where it is needed", "an anchor")
	case Tagged:
		r.Fail(n, `put an expression that begins with ! in quotes`, "a YAML tag %q", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			switch line, dup := seen[key.Value]; {
			case key.Kind == yaml.ScalarNode && key.Tag == "!!merge":
				r.Fail(key, "write it out", "a merge key")
			case key.Kind != yaml.ScalarNode:
				r.Fail(key, "", "a key must be a word")
			case dup:
				r.Fail(key, "drop one, or begin a new item with a dash", "key %q again, first on line %d", key.Value, line)
			}
			seen[key.Value] = key.Line
		}
	}
	for _, c := range n.Content {
		r.plain(c, depth+1)
	}
	return len(r.Problems) == before
}

// Fields returns the values of a mapping by key. Keys that are not among the
// allowed ones are reported with the nearest of them.
func (r *Reader) Fields(n *yaml.Node, what string, allowed ...string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "keys: "+strings.Join(allowed, ", "), "%s must be a mapping of keys to values", what)
		return out
	}
	slips := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if slices.Contains(allowed, key.Value) {
			out[key.Value] = n.Content[i+1]
			continue
		}
		r.Fail(key, Meant(key.Value, allowed), "%s has no key %q", what, key.Value)
		slips[Nearest(key.Value, allowed)] = n.Content[i+1]
	}
	// A slip is read as the key that it was meant to be: one slip, one problem.
	for meant, value := range slips {
		if _, given := out[meant]; !given && meant != "" {
			out[meant] = value
		}
	}
	return out
}

// Items returns the items of a list, none when n is nil.
func (r *Reader) Items(n *yaml.Node, what string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.Fail(n, "begin each item with a dash", "%s must be a list", what)
		return nil
	}
	return n.Content
}

// Text returns the text of a scalar, "" when n is nil or not a text.
func (r *Reader) Text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		r.Fail(n, "", "%s must be a text", what)
		return ""
	}
	if n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		r.Fail(n, "", "%s is empty", what)
		return ""
	}
	return n.Value
}

// OneOf returns the text of a scalar that must be one of the values.
func (r *Reader) OneOf(n *yaml.Node, what string, values []string) string {
	s := r.Text(n, what)
	if s == "" {
		return ""
	}
	for _, v := range values {
		if v == s {
			return s
		}
	}
	r.Fail(n, Meant(s, values), "%s cannot be %q", what, s)
	return ""
}

// Flag returns a yes or no, false when n is nil.
func (r *Reader) Flag(n *yaml.Node, what string) bool {
	s := r.Text(n, what)
	if s != "" && s != "true" && s != "false" {
		r.Fail(n, "", "%s must be true or false, not %q", what, s)
	}
	return s == "true"
}

// Number returns a whole number in a range, 0 when n is nil.
func (r *Reader) Number(n *yaml.Node, what string, low, high int) int {
	s := r.Text(n, what)
	if s == "" {
		return 0
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < low || i > high {
		r.Fail(n, "", "%s must be a whole number from %d to %d, not %q", what, low, high, s)
		return 0
	}
	return i
}

// Need returns the value of a key that must be there.
func (r *Reader) Need(parent *yaml.Node, f map[string]*yaml.Node, key string) *yaml.Node {
	if f[key] == nil {
		r.Fail(parent, "", "%s is missing", key)
	}
	return f[key]
}

// Match returns the text of a scalar that must match a pattern.
func (r *Reader) Match(n *yaml.Node, what string, pattern *regexp.Regexp) string {
	s := r.Text(n, what)
	if s != "" && !pattern.MatchString(s) {
		r.Fail(n, "", "%s %q must match %s", what, s, pattern)
	}
	return s
}

// Span returns a duration above zero, 0 when n is nil.
func (r *Reader) Span(n *yaml.Node, what string) time.Duration {
	s := r.Text(n, what)
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		r.Fail(n, "", "%s must be a duration above zero such as 90s or 47m, not %q", what, s)
		return 0
	}
	return d
}

// Beside reads the file beside the document that a scalar names, and returns its path.
func (r *Reader) Beside(n *yaml.Node, what string) (file string, src []byte, ok bool) {
	name := r.Text(n, what)
	if name == "" {
		return "", nil, false
	}
	file = path.Join(path.Dir(r.File), path.Base(name))
	src, err := fs.ReadFile(r.Files, file)
	if err != nil {
		r.Fail(n, "the file stands beside this one", "%s %q cannot be read: %v", what, name, err)
		return "", nil, false
	}
	return file, src, true
}
