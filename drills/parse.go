package drills

import (
	"io/fs"
	"path"
	"regexp"

	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/strict"
)

var (
	drillName  = regexp.MustCompile(`\$\{([^}]*)\}`)
	answerKeys = []string{"answers", "manual", "conclude", "skip", "waive", "gates", "debts", "notes", "people"}
)

// parser reads one drill document.
type parser struct {
	inject.Parser
	cat steps.Catalog
}

// Parse reads and checks a drill document. The file it names as reference is
// looked up in files, beside the document. Bad input gives strict.Problems with
// their places; an unknown verb, probe, fact, export or workspace is bad input.
func Parse(file string, src []byte, files fs.FS, cat steps.Catalog) (*Drill, error) {
	p := parser{Parser: inject.Parser{Reader: &strict.Reader{File: file, What: "a drill"}, Files: files}, cat: cat}
	root := p.Document(src)
	if root == nil {
		return nil, p.Problems.Sorted()
	}
	f := p.Fields(root, "a drill", append([]string{"apiVersion", "kind", "id", "runbook", "title", "page", "reference", "variants"}, partKeys...)...)
	p.OneOf(p.Need(root, f, "apiVersion"), "apiVersion", []string{"handrail/v1"})
	p.OneOf(p.Need(root, f, "kind"), "kind", []string{"Drill"})
	d := &Drill{
		File:    file,
		ID:      p.Form(p.Need(root, f, "id"), "id", inject.IDForm),
		Runbook: p.Form(p.Need(root, f, "runbook"), "runbook", inject.IDForm),
		Title:   p.Text(p.Need(root, f, "title"), "title"),
		Page:    p.Text(p.Need(root, f, "page"), "page"),
	}
	for _, key := range []string{"expect", "inject", "win"} {
		p.Need(root, f, key)
	}
	d.base = p.part(f, part{})
	d.reference = p.reference(p.Need(root, f, "reference"), d.Runbook)
	if n := f["variants"]; n != nil {
		d.variants = p.variants(n, d.base, f["params"])
	}
	if err := p.Problems.Sorted(); err != nil {
		return nil, err
	}
	return d, nil
}

func (p parser) reference(n *yaml.Node, runbook string) *walk.Answers {
	name := p.Text(n, "reference")
	if name == "" {
		return nil
	}
	src, err := fs.ReadFile(p.Files, path.Join(path.Dir(p.File), path.Base(name)))
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
