package drills

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/drills/stage"
	"handrail/session/walk"
	"handrail/steps/strict"
)

// partKeys are what a variant may put in the place of the drill's own.
var partKeys = []string{"params", "inject", "later", "export", "win", "expect", "hands", "writes"}

// part reads what a drill and a variant have in common; base is what holds where
// it has none of its own.
func (p parser) part(f map[string]*yaml.Node, base part) part {
	var out part
	out.inject = inject.Read(p.Reader, f["inject"])
	if n := f["later"]; n != nil {
		out.later = p.later(n)
	}
	if n := f["export"]; n != nil {
		out.export = p.exports(n, part{inject: out.over(base).inject}.known())
	}
	whole := out.over(base)
	if n := f["win"]; n != nil {
		out.win = p.win(n, whole)
	}
	if n := f["params"]; n != nil {
		out.params = p.params(n, whole.known())
	}
	if n := f["hands"]; n != nil {
		out.hands = p.hands(n)
	}
	if n := f["writes"]; n != nil {
		out.writes = p.writes(n)
	}
	if n := f["expect"]; n != nil {
		out.expect = &Expect{}
		p.Struct(n, "expect", out.expect)
	}
	return out
}

// writes reads, for each gate, the objects that a program which it runs may write:
// `apply: [configmaps/orders]`.
func (p parser) writes(n *yaml.Node) map[string][]objectRef {
	out := map[string][]objectRef{}
	p.Each(n, "writes", func(key, value *yaml.Node) {
		for _, item := range p.Items(value, key.Value) {
			plural, name, ok := strings.Cut(p.Text(item, "an object"), "/")
			if !ok || !inject.IDForm.MatchString(name) || !inject.IDForm.MatchString(plural) {
				p.Fail(item, "as in configmaps/orders", "%q is not an object", item.Value)
				continue
			}
			out[key.Value] = append(out[key.Value], objectRef{plural, name})
		}
	})
	return out
}

// params reads the parameters of the runbook, in which only values of the drill
// may be named.
func (p parser) params(n *yaml.Node, known []string) map[string]string {
	out := map[string]string{}
	p.Each(n, "params", func(key, value *yaml.Node) {
		out[key.Value] = p.Text(value, key.Value)
		p.names(value, out[key.Value], known)
	})
	return out
}

func (p parser) variants(n *yaml.Node, base part, params *yaml.Node) []variant {
	var out []variant
	p.Each(n, "variants", func(key, value *yaml.Node) {
		if !inject.IDForm.MatchString(key.Value) {
			p.Fail(key, "", "name of a variant %q must match %s", key.Value, inject.IDForm)
		}
		v, _ := p.variant(key, value, "a variant", base, params)
		v.name = key.Value
		out = append(out, v)
	})
	return out
}

// variant reads what a variant puts over base, with the keys of more.
func (p parser) variant(at, value *yaml.Node, what string, base part, params *yaml.Node, more ...string) (variant, map[string]*yaml.Node) {
	f := p.Fields(value, what, slices.Concat([]string{"title"}, more, partKeys, answerKeys)...)
	v := variant{title: p.Text(f["title"], "title"), part: p.part(f, base)}
	if v.export != nil && v.win == nil && base.win != nil {
		p.Fail(at, "give win as well", "the exports change, and the win conditions of the drill stand on the old ones")
	}
	if v.params == nil && (v.export != nil || v.inject != nil) && len(p.Problems) == 0 {
		p.Each(params, "params", func(_, param *yaml.Node) { p.names(param, param.Value, v.over(base).known()) })
	}
	// What is left are answers, put over the reference.
	script := &yaml.Node{Kind: yaml.MappingNode, Line: value.Line, Column: value.Column}
	for i := 0; value.Kind == yaml.MappingNode && i+1 < len(value.Content); i += 2 {
		if slices.Contains(answerKeys, value.Content[i].Value) {
			script.Content = append(script.Content, value.Content[i], value.Content[i+1])
		}
	}
	v.answers = walk.ReadAnswers(p.Reader, script, false)
	return v, f
}

// places reads on which backends a drill and its variants run, and what is otherwise there. The first is the one that
// it is written for, and has nothing of its own. An entry is about the variants that it names, or the drill itself.
func (p parser) places(n *yaml.Node, d *Drill, params *yaml.Node) []place {
	var out []place
	known := stage.Backends()
	for _, item := range p.Items(n, "backends") {
		names := []string{""}
		if n := strict.At(item, "variants"); n != nil {
			names = nil
			for _, v := range p.Items(n, "variants") {
				names = append(names, p.OneOf(v, "variants", d.Variants()))
			}
		}
		for _, name := range names {
			base := d.base
			if i := slices.Index(d.Variants(), name); i >= 0 {
				base = d.variants[i].over(d.base)
			}
			v, f := p.variant(item, item, "backends", base, params, "on", "variants")
			v.name = name
			one := place{variant: v}
			for _, b := range p.Items(p.Need(item, f, "on"), "on") {
				if one.on = append(one.on, p.OneOf(b, "on", known)); len(out) == 0 && len(one.on) == 1 && (b.Value != stage.BackendKubernetes || name != "") {
					p.Fail(b, "put it first", "a drill that names backends is written for %s", stage.BackendKubernetes)
				}
			}
			out = append(out, one)
		}
	}
	return out
}

// hands reads what is done outside handrail at a manual step, when a script walks:
// it has no hands. A person does it with their own, and the drill does nothing.
func (p parser) hands(n *yaml.Node) map[string]inject.Steps {
	out := map[string]inject.Steps{}
	p.Each(n, "hands", func(key, value *yaml.Node) {
		if !inject.NameForm.MatchString(key.Value) {
			p.Fail(key, "", "step %q must match %s", key.Value, inject.NameForm)
		}
		out[key.Value] = inject.Read(p.Reader, value)
	})
	return out
}
