package runbooks

import (
	"errors"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
)

// mostOutputs is how many facts one step may declare.
const mostOutputs = 40

// Kind is the kind of a step as this step is: with the facts that it declares by itself.
// ok is false where cat has no such kind.
func (r *Runbook) Kind(step string, cat steps.Catalog) (kind steps.Kind, ok bool) {
	s := r.step(step)
	if s == nil {
		return kind, false
	}
	kind, ok = cat.Lookup(s.Uses)
	return kind.Telling(s.outputs), ok
}

// outputs reads the facts that a step declares by itself, and adds them to what
// expressions may name.
func (r *reader) outputs(s *Step, kind steps.Kind, n *yaml.Node) {
	const as = "as in facts: {depth: {type: int, cel: doc.queue.depth}}"
	switch {
	case n == nil:
		return
	case kind.Outputs == nil:
		r.Fail(n, "leave it away; handrail step show "+s.Uses+" lists them", "%s tells its own facts, and takes none from a runbook", s.Uses)
		return
	case n.Kind != yaml.MappingNode:
		r.Fail(n, as, "facts must be a mapping of names to how each is read")
		return
	case len(n.Content)/2 > mostOutputs:
		r.Fail(n, "make it two steps", "more than %d facts", mostOutputs)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, decl := n.Content[i], n.Content[i+1]
		switch {
		case !idForm.MatchString(name.Value):
			r.Fail(name, as, "fact %q must be small letters, digits and underscores", name.Value)
		case slices.ContainsFunc(kind.Facts, func(f steps.Field) bool { return f.Name == name.Value }):
			r.Fail(name, "choose another name", "%s tells a fact %q by itself", s.Uses, name.Value)
		default:
			r.output(s, kind, name.Value, decl)
		}
	}
}

func (r *reader) output(s *Step, kind steps.Kind, name string, n *yaml.Node) {
	f := r.part(n, "a fact")
	var types []string
	for _, t := range kind.Outputs.Types {
		types = append(types, string(t))
	}
	if f["type"] == nil || (f["cel"] == nil) == (f["regexp"] == nil) {
		r.Fail(n, "as in {type: int, cel: doc.queue.depth} or {type: int, regexp: 'depth: ([0-9]+)'}", `fact %q needs the key "type", and one of "cel" and "regexp"`, name)
		return
	}
	o := steps.Output{CEL: r.Text(f["cel"], "cel"), Regexp: r.Text(f["regexp"], "regexp")}
	o.Field = steps.Field{Name: name, Doc: r.literal(f["help"], "help"), Type: steps.Type(r.OneOf(f["type"], "type", types))}
	for _, v := range r.Items(f["values"], "values") {
		o.Values = append(o.Values, r.Text(v, "a value"))
	}
	switch {
	case o.Type == "" || o.CEL == "" && o.Regexp == "":
		return
	case (o.Type == steps.Enum) != (len(o.Values) > 0):
		r.Fail(n, "as in {type: enum, values: [open, closed], cel: doc.state}", "fact %q: values and the type enum belong together", name)
		return
	}
	if err := kind.Outputs.Check(o); err != nil {
		at, line, col := f["cel"], 0, 0
		if at == nil {
			at = f["regexp"]
		}
		line, col = r.locate(at, 0)
		if of := (*steps.OutputError)(nil); errors.As(err, &of) && of.Line == 1 {
			line, col = r.locate(at, min(of.Col, len([]rune(o.CEL))))
		}
		why, hint := err.Error(), "see handrail step show "+s.Uses+" and docs/authoring.md"
		if strings.HasPrefix(why, "Syntax error: ") {
			why, hint = syntaxOf(o.CEL, why)
		}
		r.FailAt(line, col, hint, "fact %q: %s", name, why)
		return
	}
	s.outputs = append(s.outputs, o)
	r.book.scope.add(variable{"facts." + s.ID + "." + name, s.ID, o.Field})
}
