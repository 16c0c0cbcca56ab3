package drills

import (
	"io/fs"
	"path"
	"regexp"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/strict"
)

var (
	idForm     = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	drillName  = regexp.MustCompile(`\$\{([^}]*)\}`)
	answerKeys = []string{"answers", "manual", "conclude", "skip", "waive", "gates", "debts", "notes", "people"}
)

// parser reads one drill document.
type parser struct {
	*strict.Reader
	cat   steps.Catalog
	files fs.FS // where the reference answers and the workspaces are
}

// Parse reads and checks a drill document. The file it names as reference is
// looked up in files, beside the document. Bad input gives strict.Problems with
// their places; an unknown verb, probe, fact, export or workspace is bad input.
func Parse(file string, src []byte, files fs.FS, cat steps.Catalog) (*Drill, error) {
	p := parser{Reader: &strict.Reader{File: file, What: "a drill"}, cat: cat, files: files}
	root := p.Document(src)
	if root == nil {
		return nil, p.Problems.Sorted()
	}
	f := p.Fields(root, "a drill", append([]string{"apiVersion", "kind", "id", "runbook", "title", "page", "reference", "variants"}, partKeys...)...)
	p.OneOf(p.need(root, f, "apiVersion"), "apiVersion", []string{"handrail/v1"})
	p.OneOf(p.need(root, f, "kind"), "kind", []string{"Drill"})
	d := &Drill{
		File:    file,
		ID:      p.form(p.need(root, f, "id"), "id", idForm),
		Runbook: p.form(p.need(root, f, "runbook"), "runbook", idForm),
		Title:   p.Text(p.need(root, f, "title"), "title"),
		Page:    p.Text(p.need(root, f, "page"), "page"),
	}
	for _, key := range []string{"expect", "inject", "win"} {
		p.need(root, f, key)
	}
	d.base = p.part(f, part{})
	d.reference = p.reference(p.need(root, f, "reference"), d.Runbook)
	if n := f["variants"]; n != nil {
		d.variants = p.variants(n, d.base, f["params"])
	}
	if err := p.Problems.Sorted(); err != nil {
		return nil, err
	}
	return d, nil
}

// need returns the value of a key that must be there.
func (p parser) need(parent *yaml.Node, f map[string]*yaml.Node, key string) *yaml.Node {
	if f[key] == nil {
		p.Fail(parent, "", "%s is missing", key)
	}
	return f[key]
}

func (p parser) form(n *yaml.Node, what string, form *regexp.Regexp) string {
	s := p.Text(n, what)
	if s != "" && !form.MatchString(s) {
		p.Fail(n, "", "%s %q must match %s", what, s, form)
	}
	return s
}

func (p parser) reference(n *yaml.Node, runbook string) *walk.Answers {
	name := p.Text(n, "reference")
	if name == "" {
		return nil
	}
	src, err := fs.ReadFile(p.files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(n, "the file stands beside the drill", "reference %q cannot be read: %v", name, err)
		return nil
	}
	a, err := walk.ParseAnswers(name, src)
	if err != nil {
		p.Fail(n, "", "reference is not a script of answers: %v", err)
		return nil
	}
	if a.Runbook != runbook {
		p.Fail(n, "", "reference answers runbook %q, not %q", a.Runbook, runbook)
	}
	return a
}

// each calls f for every entry of a mapping, in the order of the file.
func (p parser) each(n *yaml.Node, what string, f func(key, value *yaml.Node)) {
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
func (p parser) span(n *yaml.Node, what string) time.Duration {
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
