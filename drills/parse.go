package drills

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/runbooks/strict"
	"handrail/session"
	"handrail/steps"
)

var (
	idForm     = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	drillName  = regexp.MustCompile(`\$\{([^}]*)\}`)
	answerKeys = []string{"answers", "manual", "conclude", "skip", "waive", "gates", "debts", "notes"}
)

// given are the values that every drill has beside what it exports.
var given = []string{"dir", "log", "namespace"}

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
	f := p.Fields(root, "a drill", "apiVersion", "kind", "id", "runbook", "title", "page", "reference",
		"params", "expect", "inject", "export", "win", "variants")
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
	d.base = p.part(f, nil)
	d.params = p.params(f["params"], d.base.export)
	d.reference = p.reference(p.need(root, f, "reference"), d.Runbook)
	if n := f["variants"]; n != nil {
		d.variants = p.variants(n, d.base)
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

// part reads what a drill and a variant have in common. inherited are the
// exports that hold where the part has none of its own.
func (p parser) part(f map[string]*yaml.Node, inherited []export) part {
	var out part
	for _, n := range p.Items(f["inject"], "inject") {
		if s, ok := p.step(n); ok {
			out.inject = append(out.inject, s)
		}
	}
	if n := f["inject"]; n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.Fail(n, "", "a drill injects something")
	}
	exports := inherited
	if n := f["export"]; n != nil {
		out.export = p.exports(n)
		exports = out.export
	}
	if n := f["win"]; n != nil {
		out.win = p.win(n, exports)
	}
	if n := f["expect"]; n != nil {
		e := p.Fields(n, "expect", "exit", "refused")
		out.expect = &Expect{Exit: p.Number(p.need(n, e, "exit"), "exit", 0, 7), Refused: p.Text(e["refused"], "refused")}
	}
	return out
}

// step reads one injection: a mapping of one verb to its arguments.
func (p parser) step(n *yaml.Node) (step, bool) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		p.Fail(n, "as `- tofu.apply: {dir: six-slow}`", "an injection is one verb with its arguments")
		return step{}, false
	}
	name := p.OneOf(n.Content[0], "verb", verbNames())
	v, ok := verbs()[name]
	if !ok {
		return step{}, false
	}
	return step{verb: name, act: v.read(p, n.Content[1])}, true
}

func (p parser) exports(n *yaml.Node) []export {
	out := []export{}
	p.each(n, "export", func(key, value *yaml.Node) {
		source := p.OneOf(value, "export", sourceNames())
		if !nameForm.MatchString(key.Value) {
			p.Fail(key, "", "name %q must match %s", key.Value, nameForm)
		}
		out = append(out, export{name: key.Value, source: source})
	})
	return out
}

// params reads the parameters of the runbook, in which only values of the drill
// may be named.
func (p parser) params(n *yaml.Node, exports []export) map[string]string {
	known := append([]string{}, given...)
	for _, e := range exports {
		known = append(known, e.name)
	}
	out := map[string]string{}
	p.each(n, "params", func(key, value *yaml.Node) {
		text := p.Text(value, key.Value)
		for _, m := range drillName.FindAllStringSubmatch(text, -1) {
			name, ok := strings.CutPrefix(m[1], "drill.")
			if !ok {
				p.Fail(value, "only ${drill.NAME}", "${%s} cannot be named here", m[1])
				continue
			}
			if i := indexOf(known, name); i < 0 {
				p.Fail(value, strict.Meant(name, known), "the drill has no value %q", name)
			}
		}
		out[key.Value] = text
	})
	return out
}

func (p parser) reference(n *yaml.Node, runbook string) *session.Answers {
	name := p.Text(n, "reference")
	if name == "" {
		return nil
	}
	src, err := fs.ReadFile(p.files, path.Join(path.Dir(p.File), path.Base(name)))
	if err != nil {
		p.Fail(n, "the file stands beside the drill", "reference %q cannot be read: %v", name, err)
		return nil
	}
	a, err := session.ParseAnswers(name, src)
	if err != nil {
		p.Fail(n, "", "reference is not a script of answers: %v", err)
		return nil
	}
	if a.Runbook != runbook {
		p.Fail(n, "", "reference answers runbook %q, not %q", a.Runbook, runbook)
	}
	return a
}

func (p parser) variants(n *yaml.Node, base part) []variant {
	var out []variant
	p.each(n, "variants", func(key, value *yaml.Node) {
		if !idForm.MatchString(key.Value) {
			p.Fail(key, "", "name of a variant %q must match %s", key.Value, idForm)
		}
		f := p.Fields(value, "a variant", append([]string{"title", "inject", "export", "win", "expect"}, answerKeys...)...)
		v := variant{name: key.Value, title: p.Text(f["title"], "title"), part: p.part(f, base.export)}
		if v.export != nil && v.win == nil && base.win != nil {
			p.Fail(key, "give win as well", "the exports change, and the win conditions of the drill stand on the old ones")
		}
		// What is left of the variant are answers, put over the reference.
		script := &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Column: value.Column}
		for i := 0; value.Kind == yaml.MappingNode && i+1 < len(value.Content); i += 2 {
			if indexOf(answerKeys, value.Content[i].Value) >= 0 {
				script.Content = append(script.Content, value.Content[i], value.Content[i+1])
			}
		}
		v.answers = session.ReadAnswers(p.Reader, script, false)
		out = append(out, v)
	})
	return out
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

func indexOf(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}
