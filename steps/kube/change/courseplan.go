package change

import (
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/kube/course"
	"handrail/steps/kube/patch"
)

// coursePlan is one object of a batch, before it was looked at.
type coursePlan struct {
	key  string
	gate single
	in   steps.Params
	ops  []patch.Op // it is done already where the object shows all of them; nil for a delete
}

// plansOf are those of a table of objects, in the order of their names.
func plansOf(in steps.Params, how func(course.Name) (single, []patch.Op)) ([]coursePlan, error) {
	var out []coursePlan
	uids := in["uids"].Table()
	for _, key := range slices.Sorted(maps.Keys(uids)) {
		n, err := course.ParseName(key)
		if err != nil {
			return nil, err
		}
		gate, ops := how(n)
		of := n.Params("")
		of["uid"] = steps.IdentOf(uids[key])
		out = append(out, coursePlan{key: key, gate: gate, in: of, ops: ops})
	}
	return out, nil
}

// planOf is that of one entry of a list of changes.
func planOf(env steps.Env, c course.Change, in steps.Params) (coursePlan, error) {
	if c.Make != nil {
		m := manifest(c.Make)
		of := steps.Params{}
		if ns := in.Text("namespace"); ns != "" {
			of["namespace"] = steps.StringOf(ns)
		}
		return coursePlan{key: strings.ToLower(textAt(m, "/kind")) + "/" + textAt(m, "/metadata/name"), gate: createGate{env: env, made: m}, in: of, ops: m.ops()}, nil
	}
	ops, err := patch.Parse(c.Patch)
	if err != nil {
		return coursePlan{}, err
	}
	of := c.Name.Params(in.Text("namespace"))
	of["patch"] = steps.StringOf(c.Patch)
	return coursePlan{key: c.Name.String(), gate: newPatchGate(env).(alterGate), in: of, ops: ops}, nil
}

// settle is how long a change must last before the next one is made; only a list of changes says so.
func (c coursePlan) settle() time.Duration {
	if v, is := c.in["settle"]; is {
		return v.Duration()
	}
	return 0
}
