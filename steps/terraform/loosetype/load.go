package loosetype

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"handrail/steps/terraform/jsonscan"
)

// Limits. The parser is recursive: what is nested too deep would end the
// process, and no recover helps.
const (
	maxModules  = 500
	maxFile     = 1 << 20
	maxNesting  = 500
	maxBranches = 5000
	maxOpeners  = 50_000 // in a JSON file, whose strings are parsed too
)

// Source reads the files of a module: name to content. Names of configuration
// end in .tf, .tofu or the JSON forms of both.
type Source func(dir string) (map[string][]byte, error)

// block is one block, or the attributes of one.
type block struct {
	typ    string
	labels []string
	attrs  []attr
	at     hcl.Range
	repeat string // count or for_each, of a resource
}

// attr is one expression and where it stands.
type attr struct {
	name string // of the attribute, for_each and count among them
	expr hcl.Expression
}

// module is one module as it is called from the root.
type module struct {
	key    string // a.b
	dir    string
	vars   []block
	locals map[string]attr
	calls  map[string]block
	all    []block // everything that may use an input
	checks map[string]bool
}

func (m *module) address() string {
	if m.key == "" {
		return ""
	}
	return "module." + strings.ReplaceAll(m.key, ".", ".module.")
}

// load reads the root module in dir and all that it calls; installed maps the
// keys of modules.json to directories.
func load(read Source, dir string, installed map[string]string) (map[string]*module, []string) {
	out := map[string]*module{}
	var gaps []string
	type todo struct{ key, dir string }
	queue := []todo{{"", dir}}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		if len(out) == maxModules {
			gaps = append(gaps, fmt.Sprintf("more than %d modules are called; the rest was not read", maxModules))
			break
		}
		m, lost, err := parseModule(read, next.key, next.dir)
		gaps = append(gaps, lost...)
		if err != nil {
			gaps = append(gaps, fmt.Sprintf("module %q in %s: %v", next.key, next.dir, err))
			continue
		}
		out[next.key] = m
		for _, name := range slices.Sorted(maps.Keys(m.calls)) {
			key := strings.TrimPrefix(next.key+"."+name, ".")
			at, ok := installed[key]
			if !ok {
				source := literal(m.calls[name], "source")
				if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
					gaps = append(gaps, fmt.Sprintf("module %q is not installed here (source %q)", key, source))
					continue
				}
				at = path.Join(next.dir, source)
			}
			if strings.Count(key, ".") < 20 { // a module that calls itself has no end
				queue = append(queue, todo{key, at})
			}
		}
	}
	return out, gaps
}

func parseModule(read Source, key, dir string) (*module, []string, error) {
	files, err := read(dir)
	if err != nil {
		return nil, nil, err
	}
	m := &module{key: key, dir: dir, locals: map[string]attr{}, calls: map[string]block{}, checks: map[string]bool{}}
	var gaps []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if shadowed(name, files) {
			continue
		}
		body, err := parse(files[name], path.Join(dir, name))
		if err != nil {
			gaps = append(gaps, fmt.Sprintf("%s: %v", path.Join(dir, name), err))
		}
		if body != nil {
			m.take(body)
		}
	}
	return m, gaps, nil
}

// shadowed says whether tofu takes another file instead: main.tofu for main.tf.
func shadowed(name string, files map[string][]byte) bool {
	base, json := strings.CutSuffix(name, ".json")
	stem, ok := strings.CutSuffix(base, ".tf")
	if !ok {
		return false
	}
	other := stem + ".tofu"
	if json {
		other += ".json"
	}
	_, there := files[other]
	return there
}

func parse(src []byte, name string) (hcl.Body, error) {
	if len(src) > maxFile {
		return nil, fmt.Errorf("it is over %d bytes and was not read", maxFile)
	}
	p := hclparse.NewParser()
	var f *hcl.File
	var diags hcl.Diagnostics
	if strings.HasSuffix(name, ".json") {
		if err := jsonscan.New(bytes.NewReader(src)).Skip(); err != nil {
			return nil, err
		}
		openers := 0
		for _, c := range src {
			if strings.IndexByte("[{(!?-", c) >= 0 {
				openers++
			}
		}
		if openers > maxOpeners {
			return nil, errors.New("it is nested too deep and was not read")
		}
		f, diags = p.ParseJSON(src, name)
	} else {
		if tooDeep(src) {
			return nil, errors.New("it is nested too deep and was not read")
		}
		f, diags = p.ParseHCL(src, name)
	}
	if f == nil || f.Body == nil {
		return nil, firstOf(diags)
	}
	return f.Body, firstOf(diags)
}

func firstOf(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			return fmt.Errorf("it does not parse: %s", d.Summary)
		}
	}
	return nil
}

// tooDeep counts what the parser would descend into, by the tokens alone.
func tooDeep(src []byte) bool {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	depth, signs, branches := 0, 0, 0
	for _, t := range tokens {
		sign := false
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth = max(0, depth-1)
		case hclsyntax.TokenBang, hclsyntax.TokenMinus:
			sign = true
		case hclsyntax.TokenQuestion:
			branches++
		}
		if sign {
			signs++
		} else if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
			signs = 0
		}
		if depth > maxNesting || signs > maxNesting || branches > maxBranches {
			return true
		}
	}
	return false
}

func schema() *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for typ, labels := range map[string][]string{"variable": {"name"}, "locals": nil, "module": {"name"}, "output": {"name"}, "resource": {"type", "name"}, "data": {"type", "name"},
		"ephemeral": {"type", "name"}, "provider": {"name"}, "check": {"name"}, "import": nil, "moved": nil, "removed": nil} {
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: typ, LabelNames: labels})
	}
	return s
}

func (m *module) take(body hcl.Body) {
	content, _, _ := body.PartialContent(schema())
	if content == nil {
		return
	}
	for _, b := range content.Blocks {
		taken := block{typ: b.Type, labels: b.Labels, at: b.DefRange, attrs: attributes(b.Body, 0), repeat: repeat(b.Body)}
		switch {
		case b.Type == "variable":
			m.vars = append(m.vars, taken)
			if _, native := b.Body.(*hclsyntax.Body); native {
				inner, _, _ := b.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}}})
				m.checks[b.Labels[0]] = inner != nil && len(inner.Blocks) > 0
			}
		case b.Type == "locals":
			for _, a := range taken.attrs {
				m.locals[a.name] = a
			}
		case b.Type == "module":
			m.calls[b.Labels[0]] = taken
		}
		m.all = append(m.all, taken)
	}
}

// attributes returns every expression below a body; in JSON nested blocks are
// objects inside attributes.
func attributes(body hcl.Body, deep int) []attr {
	var out []attr
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, name := range slices.Sorted(maps.Keys(native.Attributes)) {
			out = append(out, attr{name, native.Attributes[name].Expr})
		}
		if deep < maxNesting {
			for _, b := range native.Blocks {
				out = append(out, attributes(b.Body, deep+1)...)
			}
		}
		return out
	}
	attrs, _ := body.JustAttributes()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		out = append(out, attr{name, attrs[name].Expr})
	}
	return out
}

// literal returns an attribute that is plain text.
func literal(b block, name string) string {
	for _, a := range b.attrs {
		if a.name == name {
			v, diags := a.expr.Value(nil)
			if !diags.HasErrors() && v.IsKnown() && !v.IsNull() && v.Type().FriendlyName() == "string" {
				return v.AsString()
			}
		}
	}
	return ""
}
