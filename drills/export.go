package drills

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"handrail/drills/inject"
	"handrail/drills/stage"
	"handrail/steps"
	"handrail/steps/strict"
)

// export is a value that robot reads right after the injection.
type export struct {
	name string
	source
}

// source is where an exported value comes from.
type source struct {
	typ  steps.Type // "" for one that was refused
	late bool       // known only when the walk came so far
	read func(ctx context.Context, st *stage.Stage) (steps.Value, error)
}

// sources are those that have a name of their own; any other fact is taken from
// a probe.
func sources() map[string]source {
	holder := source{typ: steps.Ident, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
		if !st.NamesLock() {
			return steps.IdentOf("none"), nil
		}
		id, err := st.Holder(ctx)
		return steps.IdentOf(id), err
	}}
	// As the gate asks for it to be typed.
	phrase := source{typ: steps.Ident, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
		if !st.NamesLock() {
			return steps.IdentOf("none"), nil
		}
		id, err := st.Holder(ctx)
		return steps.IdentOf(steps.ShortLockID(id)), err
	}}
	return map[string]source{
		"lock.id": holder, "lock.phrase": phrase,
		"state.before": {typ: steps.Ident, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
			id, err := st.VersionBefore(ctx)
			return steps.IdentOf(id), err
		}},
		"state.serial": {typ: steps.Int, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
			s, err := st.State(ctx)
			return steps.IntOf(s.Serial), err
		}},
		"state.lineage": {typ: steps.Ident, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
			s, err := st.State(ctx)
			return steps.IdentOf(s.Lineage), err
		}},
	}
}

func sourceNames() []string { return slices.Sorted(maps.Keys(sources())) }

// exports reads names, each with the name of a source, with a fact of a probe,
// `{uses: kube/get, with: {...}, fact: uid}`, or with a file of the module,
// `{hashes: ci-841.backup}`, with the objects of a batch as its phrase counts them,
// `{counts: configmap/${drill.namespace}/a configmap/${drill.namespace}/b}`, with what is approved late, `{approves: fresh}`, or with the newest commit of a repository of
// the drill when it is asked for, `{heads: tills}`. A probe may be given values in known.
func (p parser) exports(n *yaml.Node, known []string) []export {
	out := []export{}
	p.Each(n, "export", func(key, value *yaml.Node) {
		e := export{name: key.Value}
		if value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "approves" {
			e.source = p.approval(p.Match(value.Content[1], "approves", inject.NameForm))
		} else if value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "counts" {
			e.source = counts(p.Text(value.Content[1], "counts"))
		} else if value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "heads" {
			e.source = heads(p.Match(value.Content[1], "heads", inject.IDForm))
		} else if value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "hashes" {
			e.source = hashes(p.Match(value.Content[1], "hashes", inject.FileForm))
		} else if value.Kind == yaml.MappingNode {
			e.source = p.fact(value, known)
		} else {
			e.source = sources()[p.OneOf(value, "export", sourceNames())]
		}
		if !inject.NameForm.MatchString(key.Value) {
			p.Fail(key, "", "name %q must match %s", key.Value, inject.NameForm)
		}
		out = append(out, e)
	})
	return out
}

// fact reads a source that is one fact of a probe.
func (p parser) fact(n *yaml.Node, known []string) source {
	r, f, ok := p.reading(n, "export", known, "fact")
	name := p.Text(p.Need(n, f, "fact"), "fact")
	if !ok || name == "" {
		return source{}
	}
	i := slices.IndexFunc(r.kind.Facts, func(f steps.Field) bool { return f.Name == name })
	if i < 0 {
		p.Fail(f["fact"], strict.Meant(name, fieldNames(r.kind.Facts)), "%s has no fact %q", r.kind.Name, name)
		return source{}
	}
	return source{typ: r.kind.Facts[i].Type, read: func(ctx context.Context, st *stage.Stage) (steps.Value, error) {
		facts, err := read(ctx, st, r)
		if err != nil {
			return steps.Value{}, err
		}
		if v := facts[name]; v.Known() {
			return v, nil
		}
		return steps.Value{}, fmt.Errorf("%s of %s is not known: %s", name, r.kind.Name, facts[name].Why())
	}}
}
