package drills

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/runbooks/strict"
	"handrail/steps"
)

// export is a value that robot reads right after the injection.
type export struct {
	name string
	source
}

// source is where an exported value comes from.
type source struct {
	typ  steps.Type // "" for one that was refused
	read func(ctx context.Context, st *stage) (steps.Value, error)
}

// sources are those that have a name of their own; any other fact is taken from
// a probe.
func sources() map[string]source {
	return map[string]source{
		"lease.holderIdentity": {steps.Ident, func(ctx context.Context, st *stage) (steps.Value, error) {
			id, err := st.holder(ctx)
			return steps.IdentOf(id), err
		}},
		"state.serial": {steps.Int, func(ctx context.Context, st *stage) (steps.Value, error) {
			s, err := st.state(ctx)
			return steps.IntOf(s.Serial), err
		}},
		"state.lineage": {steps.Ident, func(ctx context.Context, st *stage) (steps.Value, error) {
			s, err := st.state(ctx)
			return steps.IdentOf(s.Lineage), err
		}},
	}
}

func sourceNames() []string { return slices.Sorted(maps.Keys(sources())) }

// exports reads names, each with the name of a source or with a fact of a probe:
// `{uses: kube/get, with: {...}, fact: uid}`.
func (p parser) exports(n *yaml.Node) []export {
	out := []export{}
	p.each(n, "export", func(key, value *yaml.Node) {
		e := export{name: key.Value}
		if value.Kind == yaml.MappingNode {
			e.source = p.fact(value)
		} else {
			e.source = sources()[p.OneOf(value, "export", sourceNames())]
		}
		if !nameForm.MatchString(key.Value) {
			p.Fail(key, "", "name %q must match %s", key.Value, nameForm)
		}
		out = append(out, e)
	})
	return out
}

// fact reads a source that is one fact of a probe.
func (p parser) fact(n *yaml.Node) source {
	r, f, ok := p.reading(n, "export", "fact")
	name := p.Text(p.need(n, f, "fact"), "fact")
	if !ok || name == "" {
		return source{}
	}
	i := slices.IndexFunc(r.kind.Facts, func(f steps.Field) bool { return f.Name == name })
	if i < 0 {
		p.Fail(f["fact"], strict.Meant(name, fieldNames(r.kind.Facts)), "%s has no fact %q", r.kind.Name, name)
		return source{}
	}
	return source{r.kind.Facts[i].Type, func(ctx context.Context, st *stage) (steps.Value, error) {
		facts, err := st.read(ctx, r)
		if err != nil {
			return steps.Value{}, err
		}
		if v := facts[name]; v.Known() {
			return v, nil
		}
		return steps.Value{}, fmt.Errorf("%s of %s is not known: %s", name, r.kind.Name, facts[name].Why())
	}}
}
