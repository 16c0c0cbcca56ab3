package runbooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// Version is the apiVersion of the documents that this package reads.
const Version = "handrail/v1"

var (
	idForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	bookForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
)

// Parse reads a runbook and compiles its expressions against the facts that the
// kinds in cat declare. The error is [Problems], in the order of the file.
func Parse(file string, src []byte, cat steps.Catalog) (*Runbook, error) {
	book, err := parseStructure(file, src, cat)
	if err != nil {
		return nil, err
	}
	if err := book.compiled(); err != nil {
		return nil, err
	}
	return book, nil
}

// Outline reads a runbook as Library does: its expressions are compiled at the first use, or
// by Check.
func Outline(file string, src []byte, cat steps.Catalog) (*Runbook, error) {
	return parseStructure(file, src, cat)
}

// parseStructure is Parse without the expressions, which cost the most.
func parseStructure(file string, src []byte, cat steps.Catalog) (*Runbook, error) {
	sum := sha256.Sum256(src)
	book := &Runbook{File: file, Source: bytes.Clone(src), Digest: hex.EncodeToString(sum[:]),
		Bounds: map[string]Bounds{}, scope: &scope{}}
	r := &reader{Reader: strict.Reader{File: file, What: "a runbook"}, lines: lines(src), cat: cat, book: book}
	if doc := r.Document(src); doc != nil {
		r.runbook(doc)
	}
	if err := r.Problems.Sorted(); err != nil {
		return nil, err
	}
	return book, nil
}

func lines(src []byte) [][]rune {
	var out [][]rune
	for l := range strings.Lines(string(src)) {
		out = append(out, []rune(strings.TrimRight(l, "\r\n")))
	}
	return out
}

// compiled compiles the expressions, once.
func (r *Runbook) compiled() error {
	r.once.Do(func() {
		rd := &reader{Reader: strict.Reader{File: r.File, What: "a runbook"}, lines: lines(r.Source), book: r}
		rd.compileAll()
		if len(rd.Problems) == 0 {
			rd.arguments()
			rd.cells()
		}
		r.compile = rd.Problems.Sorted()
	})
	return r.compile
}

// Check compiles what Library left for later and returns what it found.
func (r *Runbook) Check() error { return r.compiled() }

// bookKeys are the keys of a runbook; neededKeys are those that none does without.
func bookKeys() []string {
	return append(append(neededKeys(), "matrix", "departs", "proves", "doc", "symptoms", "recognise", "params", "fresh", "next"), phaseKeys()...)
}

func neededKeys() []string {
	return []string{"apiVersion", "kind", "id", "title", "domain", "severity"}
}

// sampleOf is what may stand under a key that no runbook does without.
func sampleOf(key string) string {
	return map[string]string{"apiVersion": Version, "kind": "Runbook", "id": "disk-full", "title": "A full disk stopped an apply", "domain": "runner", "severity": string(triage.Sev3)}[key]
}

func (r *reader) runbook(doc *yaml.Node) {
	f := r.Fields(doc, "a runbook", bookKeys()...)
	for _, k := range neededKeys() {
		if f[k] == nil {
			r.Fail(doc, "as in "+k+": "+sampleOf(k), "a runbook needs the key %q", k)
		}
	}
	r.OneOf(f["apiVersion"], "apiVersion", []string{Version})
	r.OneOf(f["kind"], "kind", []string{"Runbook"})
	b := r.book
	if b.ID = r.Text(f["id"], "id"); b.ID != "" && !bookForm.MatchString(b.ID) {
		r.Fail(f["id"], "as in state-lock", "id %q must be small letters, digits and single hyphens", b.ID)
	}
	b.Title = r.literal(f["title"], "title")
	b.Domain = r.OneOf(f["domain"], "domain", domains())
	b.Severity = triage.Severity(r.OneOf(f["severity"], "severity", severities()))
	r.matrix(f["matrix"])
	b.Departs = strings.TrimSpace(r.literal(f["departs"], "departs"))
	b.Doc = r.literal(f["doc"], "doc")
	for _, n := range r.Items(f["symptoms"], "symptoms") {
		r.symptom(n)
	}
	for _, n := range r.Items(f["recognise"], "recognise") {
		r.pattern(n)
	}
	if f["params"] != nil {
		r.params(f["params"])
	}
	fresh := r.duration(f["fresh"], "fresh")
	for _, p := range triage.Phases() {
		for _, n := range r.Items(f[string(p)], string(p)) {
			r.step(p, n)
		}
		r.builtin(p)
	}
	for i := range b.Steps {
		if s := &b.Steps[i]; s.Fresh == 0 {
			s.Fresh = fresh
		}
	}
	for _, n := range r.Items(f["next"], "next") {
		r.next(n)
	}
	r.proves(f["proves"])
	r.gates()
	r.opponents()
	r.questioned()
}

func (r *reader) pattern(n *yaml.Node) {
	f := r.part(n, "a pattern")
	if f["pattern"] == nil {
		r.Fail(n, "as in {pattern: 'no space left on device', weight: 5}", `a pattern needs the key "pattern"`)
		return
	}
	p := Pattern{Pattern: r.Text(f["pattern"], "pattern"), Weight: 5, Say: r.literal(f["say"], "say"), line: f["pattern"].Line, col: f["pattern"].Column}
	if f["weight"] != nil {
		p.Weight = r.Number(f["weight"], "weight", -10, 10)
		if p.Weight == 0 && f["weight"].Value == "0" {
			r.Fail(f["weight"], "1 to 10 for what speaks for the runbook, -10 to -1 for what speaks against it", "a pattern of weight 0 says nothing")
		}
	}
	if p.re = r.regexp(f["pattern"], p.Pattern); p.re == nil {
		return
	}
	if p.re.MatchString("") {
		r.Fail(f["pattern"], "let it name a part of the error", "pattern %q matches an empty text", p.Pattern)
		return
	}
	p.needles, p.lines = needles(p.Pattern), strings.Contains(p.Pattern, `\n`)
	r.book.Recognise = append(r.book.Recognise, p)
}

func (r *reader) params(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "as in params: {dir: {type: path, default: .}}", "params must be a mapping of names to declarations")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, decl := n.Content[i], n.Content[i+1]
		if !idForm.MatchString(name.Value) {
			r.Fail(name, "as in max_apply", "parameter %q must be small letters, digits and underscores", name.Value)
			continue
		}
		r.param(name.Value, decl)
	}
}

func (r *reader) param(name string, n *yaml.Node) {
	f := r.part(n, "a parameter")
	if f["type"] == nil {
		r.Fail(n, "one of "+strings.Join(paramTypes(), ", "), `parameter %q needs the key "type"`, name)
		return
	}
	p := steps.Field{Name: name, Doc: r.literal(f["help"], "help"), Required: r.Flag(f["required"], "required"), Matched: r.Flag(f["matched"], "matched"), Later: r.Flag(f["later"], "later")}
	p.Type = steps.Type(r.OneOf(f["type"], "type", paramTypes()))
	if p.Type == "" {
		return
	}
	for _, v := range r.Items(f["values"], "values") {
		p.Values = append(p.Values, r.Text(v, "a value"))
	}
	if (p.Type == steps.Enum) != (len(p.Values) > 0) {
		r.Fail(n, "as in {type: enum, values: [a, b], default: a}", "parameter %q: values and the type enum belong together", name)
	}
	if f["pattern"] != nil {
		p.Pattern = r.Text(f["pattern"], "pattern")
		if r.regexp(f["pattern"], p.Pattern) != nil && !textual(p.Type) {
			r.Fail(f["pattern"], "remove it; min and max bound a number or a duration", "a pattern is for texts, not for the type %s", p.Type)
		}
	}
	if p.Matched && p.Type != steps.Path {
		r.Fail(f["matched"], "remove it; a text is kept as a file", "matched is for a path, not for the type %s", p.Type)
	}
	if p.Matched {
		if i := slices.IndexFunc(r.book.Params, func(f steps.Field) bool { return f.Matched }); i >= 0 {
			r.Fail(f["matched"], "keep it at one of the two", "the matched text names one file, and parameter %q is it", r.book.Params[i].Name)
		}
	}
	if p.Later && (p.Type != steps.Path || p.Required || p.Matched) {
		r.Fail(f["later"], "remove it", "later is for a path that is neither required nor matched: the file comes during the incident")
	}
	r.bounds(p, f)
	if n := f["patch"]; n != nil {
		under := r.Text(n, "patch")
		if p.Type != steps.String || !patchPath.MatchString(under) {
			r.Fail(n, "as in {type: string, patch: /spec/hard}", "patch is the path in an object below which the pairs of a text are set")
		}
		r.book.Bounds[name] = Bounds{Patch: under}
	}
	if d := f["default"]; d != nil {
		if p.Required {
			r.Fail(d, "drop one of the two", "parameter %q is required, so its default is never used", name)
		}
		if v, ok := r.value(d, "default", p.Type); ok {
			p.Default = d.Value
			if err := r.book.admit(p, v); err != nil {
				r.Fail(d, "give one that the parameter itself allows", "default: %v", err)
			}
		}
	} else if !p.Required && !textual(p.Type) {
		r.Fail(n, "as in {type: duration, default: 30m}", "parameter %q needs a default or required: true", name)
	}
	r.book.Params = append(r.book.Params, p)
	r.book.scope.add(variable{name: "params." + name, field: p})
}

func (r *reader) bounds(p steps.Field, f map[string]*yaml.Node) {
	for _, k := range []string{"min", "max"} {
		n := f[k]
		if n == nil {
			continue
		}
		if p.Type != steps.Int && p.Type != steps.Duration {
			r.Fail(n, "remove it", "%s is for the types int and duration, not %s", k, p.Type)
			continue
		}
		if _, ok := r.value(n, k, p.Type); !ok {
			continue
		}
		b := r.book.Bounds[p.Name]
		if k == "min" {
			b.Min = n.Value
		} else {
			b.Max = n.Value
		}
		r.book.Bounds[p.Name] = b
	}
}

func (r *reader) next(n *yaml.Node) {
	f := r.part(n, "a next runbook")
	if f["runbook"] == nil || f["when"] == nil {
		r.Fail(n, "as in {runbook: state-corruption, when: facts.lock.digest == 'mismatch'}", `a next runbook needs the keys "runbook" and "when"`)
		return
	}
	c := nextCase{runbook: r.Text(f["runbook"], "runbook"), when: r.expr(f["when"], "when", wantBool), say: r.text(f["say"], "say")}
	if c.runbook != "" && !bookForm.MatchString(c.runbook) {
		r.Fail(f["runbook"], "small letters, digits and single hyphens; see handrail runbook list", "%q is not the id of a runbook", c.runbook)
	}
	if w := f["with"]; w != nil {
		if w.Kind != yaml.MappingNode {
			r.Fail(w, "as in with: {dir: \"${params.dir}\"}", "with must be a mapping of parameters to values")
			return
		}
		for i := 0; i+1 < len(w.Content); i += 2 {
			c.with = append(c.with, nextWith{w.Content[i].Value, r.text(w.Content[i+1], w.Content[i].Value)})
		}
	}
	r.book.next = append(r.book.next, c)
}

// gates refuses a runbook that could open a gate without what the laws need.
func (r *reader) gates() {
	var captured, watched bool
	var concluded []triage.Topic
	for _, s := range r.book.Steps {
		captured = captured || s.Phase == triage.Preserve && s.Required
		watched = watched || s.Phase == triage.Verify && s.Kind == triage.WatchStep
		if s.Kind == triage.ConcludeStep && !s.Builtin {
			concluded = append(concluded, s.Topic)
		}
	}
	for _, s := range r.book.Steps {
		if s.Kind != triage.GateStep {
			continue
		}
		if s.Phase != triage.Authority && s.Phase != triage.Recover {
			r.FailAt(s.Line, s.Col, "move it to recover", "gate %q in the phase %s: gates stand in authority and recover only", s.ID, s.Phase)
		}
		for _, need := range []struct {
			ok         bool
			what, hint string
		}{
			{captured, "a required step in preserve", "evidence comes before change"},
			{slices.Contains(concluded, triage.TopicMutation), "a conclusion of the topic mutation", "did anything change already?"},
			{slices.Contains(concluded, triage.TopicClass), "a conclusion of the topic class", "classify before acting"},
			{watched, "a watch in verify", "green is not proof"},
		} {
			if !need.ok {
				r.FailAt(s.Line, s.Col, need.hint, "gate %q needs %s", s.ID, need.what)
			}
		}
	}
}
