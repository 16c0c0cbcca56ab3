package inject

import (
	"io/fs"
	"regexp"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/steps/strict"
)

// The forms of what a document names.
var (
	IDForm   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	NameForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	FileForm = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)
)

// Parser reads the steps of a drill document: one verb each, with its arguments.
type Parser struct {
	*strict.Reader
	Files fs.FS // where the files are that a document names, beside it
}

// Need returns the value of a key that must be there.
func (p Parser) Need(parent *yaml.Node, f map[string]*yaml.Node, key string) *yaml.Node {
	if f[key] == nil {
		p.Fail(parent, "", "%s is missing", key)
	}
	return f[key]
}

// Form reads a text of a form.
func (p Parser) Form(n *yaml.Node, what string, form *regexp.Regexp) string {
	s := p.Text(n, what)
	if s != "" && !form.MatchString(s) {
		p.Fail(n, "", "%s %q must match %s", what, s, form)
	}
	return s
}

// Each calls f for every entry of a mapping, in the order of the file.
func (p Parser) Each(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		p.Fail(n, "", "%s must be a mapping of names to values", what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i], n.Content[i+1])
	}
}

// span reads a duration above zero.
func (p Parser) span(n *yaml.Node, what string) time.Duration {
	s := p.Text(n, what)
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		p.Fail(n, "", "%s must be a duration above zero such as 90s or 47m, not %q", what, s)
		return 0
	}
	return d
}
