package drills

import (
	"strings"

	"cel.dev/cel-go/cel"
	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/runbooks"
	"handrail/steps"
)

// win is when a drill is won: probes of the drill's own, and conditions on what
// they read and on what was exported. All must hold.
type win struct {
	probes []winProbe
	all    []condition
}

type winProbe struct {
	name string
	reading
}

type condition struct {
	text    string
	program cel.Program
}

// win reads the win conditions of a part that is whole but for them: a variant
// may leave the probes to those of the drill.
func (p parser) win(n *yaml.Node, of part) *win {
	f := p.Fields(n, "win", "probes", "all")
	w := &win{}
	opts := []cel.EnvOption{}
	for _, e := range of.export {
		typ := cel.DynType // of a source that was refused: one slip is one problem
		if e.typ != "" {
			typ = runbooks.CELType(e.typ)
		}
		opts = append(opts, cel.Variable("drill."+e.name, typ))
	}
	for _, name := range of.inject.Given() {
		opts = append(opts, cel.Variable("drill."+name, cel.StringType))
	}
	see := func(name string, r reading) {
		w.probes = append(w.probes, winProbe{name, r})
		for _, fact := range r.kind.Facts {
			opts = append(opts, cel.Variable("facts."+name+"."+fact.Name, runbooks.CELType(fact.Type)))
		}
	}
	if f["probes"] == nil && of.win != nil {
		for _, probe := range of.win.probes {
			see(probe.name, probe.reading)
		}
	} else {
		p.Need(n, f, "probes")
	}
	p.Each(f["probes"], "probes", func(key, value *yaml.Node) {
		r, _, ok := p.reading(value, key.Value, of.known())
		if !ok {
			return
		}
		if !inject.NameForm.MatchString(key.Value) {
			p.Fail(key, "", "name %q must match %s", key.Value, inject.NameForm)
			return
		}
		see(key.Value, r)
	})
	if p.listing {
		return w
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		p.Fail(n, "", "%v", err)
		return w
	}
	conditions := p.Items(p.Need(n, f, "all"), "all")
	if l := f["all"]; l != nil && len(conditions) == 0 {
		p.Fail(l, "", "a drill without a win condition cannot be won")
	}
	for _, c := range conditions {
		if text := p.Text(c, "a win condition"); text != "" {
			w.all = append(w.all, p.condition(env, c, text))
		}
	}
	return w
}

func (p parser) condition(env *cel.Env, n *yaml.Node, text string) condition {
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		for _, e := range issues.Errors() {
			p.FailAt(n.Line, n.Column+max(0, e.Location.Column()), "", "%s", e.Message)
		}
		return condition{}
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		p.Fail(n, "", "a win condition is true or false, not %s", ast.OutputType())
		return condition{}
	}
	program, err := env.Program(ast)
	if err != nil {
		p.Fail(n, "", "%v", err)
	}
	return condition{text: strings.TrimSpace(text), program: program}
}

func celValue(v steps.Value) any {
	switch v.Type() {
	case steps.Bool:
		return v.Bool()
	case steps.Int:
		return v.Int()
	case steps.Duration:
		return v.Duration()
	case steps.Time:
		return v.Time()
	case steps.Strings:
		return v.Strings()
	case steps.Table:
		return v.Table()
	}
	return v.Text()
}
