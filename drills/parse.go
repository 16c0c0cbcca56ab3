package drills

import (
	"io/fs"
	"regexp"

	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/strict"
)

var (
	drillName  = regexp.MustCompile(`\$\{([^}]*)\}`)
	answerKeys = []string{"answers", "manual", "conclude", "skip", "waive", "gates", "debts", "findings", "notes", "people"}
)

// parser reads one drill document.
type parser struct {
	*strict.Reader
	cat     steps.Catalog
	listing bool // no win condition is compiled: nothing is played
}

// Parse reads and checks a drill document. The file it names as reference is
// looked up in files, beside the document. Bad input gives strict.Problems with
// their places; an unknown verb, probe, fact, export or workspace is bad input.
func Parse(file string, src []byte, files fs.FS, cat steps.Catalog) (*Drill, error) {
	return parser{cat: cat}.drill(file, src, files)
}

func (p parser) drill(file string, src []byte, files fs.FS) (*Drill, error) {
	p.Reader = &strict.Reader{File: file, What: "a drill", Files: files, Forms: inject.Forms()}
	root := p.Document(src)
	if root == nil {
		return nil, p.Problems.Sorted()
	}
	d := &Drill{File: file}
	f := p.Struct(root, p.What, d, append([]string{"apiVersion", "kind", "reference", "variants", "backends"}, partKeys...)...)
	p.Versioned(root, "Drill", f)
	for _, key := range []string{"expect", "inject", "win"} {
		p.Need(root, f, key)
	}
	d.base = p.part(f, part{})
	d.reference = p.reference(p.Need(root, f, "reference"), d.Runbook)
	if n := f["variants"]; n != nil {
		d.variants = p.variants(n, d.base, f["params"])
	}
	if n := f["backends"]; n != nil {
		d.backends = p.places(n, d, f["params"])
	}
	if err := p.Problems.Sorted(); err != nil {
		return nil, err
	}
	return d, nil
}

func (p parser) reference(n *yaml.Node, runbook string) *walk.Answers {
	_, src, ok := p.Beside(n, "reference")
	if !ok {
		return nil
	}
	a, err := walk.ParseAnswers(n.Value, src)
	if err != nil {
		p.Fail(n, "", "reference is not a script of answers: %v", err)
		return nil
	}
	if a.Runbook != runbook {
		p.Fail(n, "", "reference answers runbook %q, not %q", a.Runbook, runbook)
	}
	return a
}
