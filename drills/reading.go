package drills

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
	"handrail/steps"
	"handrail/steps/strict"
)

// reading is a probe of the drill's own with its parameters: what is exported
// and what is judged are read by the same kinds, so that equal code compares.
type reading struct {
	kind steps.Kind
	with steps.Params // as the document gives them
	// late are the parameters that name values of the drill, which are known once it is injected.
	late []string
}

// reading reads the name of a probe that needs no parameters but the drill's
// directory and log, or a mapping with `uses`, `with` and the keys of more.
// A parameter may name the values in known.
func (p parser) reading(n *yaml.Node, what string, known []string, more ...string) (reading, map[string]*yaml.Node, bool) {
	f := map[string]*yaml.Node{}
	uses := n
	if n.Kind == yaml.MappingNode {
		f = p.Fields(n, what, append([]string{"uses", "with"}, more...)...)
		if uses = p.Need(n, f, "uses"); uses == nil {
			return reading{}, f, false
		}
	}
	name := p.Text(uses, what)
	kind, ok := p.cat.Lookup(name)
	for _, own := range []steps.Kind{entriesKind(), fieldKind(), brokerLogKind()} {
		if name == own.Name {
			kind, ok = own, true
		}
	}
	if name == "" || !ok || kind.Class != steps.Probe {
		if name != "" {
			p.Fail(uses, strict.Meant(name, probeNames(p.cat)), "there is no probe %q", name)
		}
		return reading{}, f, false
	}
	r := reading{kind: kind, with: steps.Params{}}
	p.Each(f["with"], "with", func(key, value *yaml.Node) {
		i := slices.IndexFunc(kind.Params, func(f steps.Field) bool { return f.Name == key.Value })
		if i < 0 {
			p.Fail(key, strict.Meant(key.Value, fieldNames(kind.Params)), "%s has no parameter %q", kind.Name, key.Value)
			return
		}
		if drillName.MatchString(value.Value) {
			p.names(value, value.Value, known)
			r.late, r.with[key.Value] = append(r.late, key.Value), steps.StringOf(value.Value)
			return
		}
		if v, ok := p.argument(value, kind.Params[i]); ok {
			r.with[key.Value] = v
		}
	})
	for _, field := range kind.Params {
		if _, ok := r.with[field.Name]; field.Required && !ok && !fromModule(field) {
			p.Fail(n, "", "%s needs %s", kind.Name, field.Name)
		}
	}
	return r, f, true
}

// argument reads one value that a document gives to a probe.
func (p parser) argument(n *yaml.Node, field steps.Field) (steps.Value, bool) {
	text := p.Text(n, field.Name)
	if text == "" {
		return steps.Value{}, false
	}
	v, err := steps.ParseValue(field.Type, text)
	switch {
	case err != nil:
		p.Fail(n, "", "%s: %v", field.Name, err)
	case field.Type == steps.Enum && !slices.Contains(field.Values, text):
		p.Fail(n, strict.Meant(text, field.Values), "%s cannot be %q", field.Name, text)
	case field.Pattern != "" && !regexp.MustCompile(`\A(?:`+field.Pattern+`)\z`).MatchString(text): // of the catalog, whose patterns are tested
		p.Fail(n, "", "%s %q does not look like %s", field.Name, text, field.Pattern)
	default:
		return v, true
	}
	return steps.Value{}, false
}

// fromModule are parameters that the drill's root module gives.
func fromModule(f steps.Field) bool { return f.Name == "dir" || f.Name == "file" }

// read runs a probe with robot's data directory and kubeconfig.
func read(ctx context.Context, st *stage.Stage, r reading) (map[string]steps.Value, error) {
	self, _ := os.Executable() // without it, what needs it says so
	env := steps.Env{
		Self: self, Dir: st.Home, Environ: st.RobotEnviron(), Home: st.Home, Now: st.Now,
		Kubeconfig: st.Rec.Namespace.RobotKubeconfig, Namespace: st.Rec.Namespace.Name,
		Tool:    st.Tool,
		Trusted: func(string) error { return nil },
	}
	in := steps.Params{}
	for _, f := range r.kind.Params {
		v, given := r.with[f.Name]
		switch {
		case slices.Contains(r.late, f.Name):
			v, err := steps.ParseValue(f.Type, spelled(v.Text(), st.Rec.Values))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			in[f.Name] = v
		case given:
			in[f.Name] = v
		case f.Name == "dir" && st.Rec.Dir != "":
			in["dir"] = steps.PathOf(st.Rec.Dir)
		case f.Name == "file" && st.Rec.Log != "":
			in["file"] = steps.PathOf(st.Rec.Log)
		case f.Default != "":
			if v, err := steps.ParseValue(f.Type, f.Default); err == nil {
				in[f.Name] = v
			}
		}
	}
	obs, err := r.kind.Reads(env).Probe(ctx, in, steps.SecretsOnly(nil))
	if err != nil {
		return nil, err
	}
	return obs.Facts, nil
}

func probeNames(cat steps.Catalog) []string {
	var names []string
	for _, k := range cat.Kinds() {
		if k.Class == steps.Probe {
			names = append(names, k.Name)
		}
	}
	return names
}

func fieldNames(fields []steps.Field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// names checks that a text names only values that there are.
func (p parser) names(n *yaml.Node, text string, known []string) {
	for _, m := range drillName.FindAllStringSubmatch(text, -1) {
		name, ok := strings.CutPrefix(m[1], "drill.")
		if !ok {
			p.Fail(n, "only ${drill.NAME}", "${%s} cannot be named here", m[1])
			continue
		}
		if !slices.Contains(known, name) {
			p.Fail(n, strict.Meant(name, known), "the drill has no value %q", name)
		}
	}
}
