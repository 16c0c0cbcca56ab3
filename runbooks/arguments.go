package runbooks

import (
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// kind looks the kind of a probe, watch or gate up, adds its facts to what
// expressions may name, and reads its parameters. ok says whether there is such a kind.
func (r *reader) kind(s *Step, fm form, n, with *yaml.Node) (kind steps.Kind, ok bool) {
	s.Uses = r.Text(n, fm.key)
	if s.Uses == "" {
		return kind, false
	}
	if kind, ok = r.cat.Lookup(s.Uses); !ok {
		var names []string
		for _, k := range r.cat.Kinds() {
			if k.Class.Gate() == (fm.kind == triage.GateStep) {
				names = append(names, k.Name)
			}
		}
		r.Fail(n, strict.Meant(s.Uses, names), "there is no kind %q", s.Uses)
		return kind, false
	}
	switch {
	case fm.kind == triage.GateStep && !kind.Class.Gate():
		r.Fail(n, "write uses", "%q reads, it is not a gate", s.Uses)
	case fm.kind != triage.GateStep && kind.Class.Gate():
		r.Fail(n, "write gate", "%q changes things, it is a gate", s.Uses)
	case fm.kind == triage.WatchStep && kind.Class == steps.Heavy:
		r.Fail(n, "watch a probe that only reads", "%q runs a program and never starts by itself, so it cannot be watched", s.Uses)
	}
	s.Heavy = kind.Class == steps.Heavy
	if kind.Class.Gate() {
		s.Class = kind.Class
	}
	for _, f := range kind.Facts {
		r.book.scope.add(variable{"facts." + s.ID + "." + f.Name, s.ID, f})
	}
	r.with(s, kind, n, with)
	return kind, true
}

func (r *reader) with(s *Step, kind steps.Kind, n, with *yaml.Node) {
	given := map[string]*yaml.Node{}
	if with != nil {
		names := make([]string, len(kind.Params))
		for i, p := range kind.Params {
			names[i] = p.Name
		}
		if at := contextKey(with); at != nil && kind.Class.Gate() && !slices.Contains(names, steps.ContextParam) {
			r.Fail(at, "leave it away; read other contexts with a probe", "%s takes no context: a gate acts in the incident's own context alone", s.Uses)
			return
		}
		given = r.Fields(with, s.Uses, names...)
	}
	for _, p := range kind.Params {
		v := given[p.Name]
		switch {
		case v == nil && p.Required:
			r.Fail(n, p.Doc, "step %q gives %s no %q", s.ID, s.Uses, p.Name)
		case v != nil:
			r.argument(s, p, v)
		case p.Default != "":
			s.with = append(s.with, argument{field: p, value: []*text{{parts: []part{{literal: p.Default}}}}})
		}
	}
}

// contextKey is the key that asks for another context, nil where none does.
func contextKey(with *yaml.Node) *yaml.Node {
	if with.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(with.Content); i += 2 {
		if with.Content[i].Value == steps.ContextParam {
			return with.Content[i]
		}
	}
	return nil
}

func (r *reader) argument(s *Step, p steps.Field, n *yaml.Node) {
	a := argument{field: p, list: n.Kind == yaml.SequenceNode}
	values := []*yaml.Node{n}
	if a.list {
		if p.Type != steps.Strings {
			r.Fail(n, "give one value", "%s takes one %s, not a list", p.Name, p.Type)
			return
		}
		values = n.Content
	}
	if p.Words && !a.list {
		r.Fail(n, "as in "+p.Name+": [program, --option, value]", "%s is a list that the runbook itself writes", p.Name)
		return
	}
	for _, v := range values {
		t := r.text(v, p.Name)
		if t == nil {
			return
		}
		a.value = append(a.value, t)
		literal, constant := t.constant()
		if p.Literal && !constant {
			r.Fail(v, "write it as it is: what a step does is the runbook's to say", "%s takes no ${…}", p.Name)
			return
		}
		if p.Literal && a.list {
			if err := fits(steps.Field{Name: p.Name, Type: steps.String, Pattern: p.Pattern}, steps.StringOf(literal)); err != nil {
				r.Fail(v, p.Doc, "%s: %v", p.Name, err)
			}
		}
		if a.list {
			continue
		}
		switch {
		case constant && p.Type == steps.Strings:
			r.Fail(v, "write [it] with brackets", "%s takes a list", p.Name)
		case constant:
			got, err := steps.ParseValue(p.Type, literal)
			if err == nil {
				err = fits(p, got)
			}
			if err != nil {
				r.Fail(v, "see handrail step show "+s.Uses, "%s: %v", p.Name, err)
			}
		case t.whole() == nil && !textual(p.Type):
			r.Fail(v, "give one whole ${…}", "%s takes a %s, which cannot be put together from texts", p.Name, p.Type)
		}
	}
	s.with = append(s.with, a)
	if p.Vet != nil {
		if err := p.Vet(a.written()); err != nil {
			r.Fail(n, "see handrail step show "+s.Uses, "%s: %v", p.Name, err)
		}
	}
}

// arguments checks the types of the expressions given to parameters, once they
// are compiled.
func (r *reader) arguments() {
	for i := range r.book.Steps {
		s := &r.book.Steps[i]
		for _, a := range s.with {
			for _, t := range a.value {
				r.argumentType(a, t)
			}
		}
	}
}

func (r *reader) argumentType(a argument, t *text) {
	e := t.whole()
	if e == nil {
		return
	}
	want := CELType(a.field.Type)
	if a.list {
		want = cel.StringType
	}
	// A text is made of anything but a list or a table; other types must fit.
	scalar := e.typ.Kind() != cel.ListType(cel.StringType).Kind() && e.typ.Kind() != cel.MapType(cel.StringType, cel.StringType).Kind()
	if e.typ.IsExactType(want) || want == cel.StringType && scalar && a.field.Type == steps.String {
		return
	}
	line, col := r.locate(e.node, e.base)
	r.FailAt(line, col, "convert it, as with string(…), or name another fact", "%s takes a %s, and ${%s} is a %s", a.field.Name, a.field.Type, e.src, typeName(e.typ))
}

// written is an argument as its author wrote it.
func (a argument) written() []steps.Written {
	var out []steps.Written
	for _, t := range a.value {
		w := steps.Written{Fixed: true}
		for _, p := range t.parts {
			if p.expr != nil {
				w.Fixed = false
				w.Text += "${" + p.expr.src + "}"
				continue
			}
			w.Text += strings.ReplaceAll(p.literal, "${", "$${")
			if w.Fixed {
				w.Head += p.literal
			}
		}
		out = append(out, w)
	}
	return out
}

// given is all that a step is given, as written.
func (s *Step) given() steps.With {
	out := steps.With{}
	for _, a := range s.with {
		out[a.field.Name] = a.written()
	}
	return out
}
