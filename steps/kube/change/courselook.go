package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/course"
)

// courseKeys are what a line of the target tells of an item, in order; a change of one has no
// more in its target.
var courseKeys = []string{act.KeyObject, act.KeyPath, act.KeyUID, act.KeyFinalizers, act.KeyDeletion, act.KeyPatch, act.KeyRemoved, keyContent}

// line is an item as it stands in the target: what the preview of it alone identifies.
func (i courseItem) line() string {
	var out []string
	for _, key := range courseKeys {
		if v := steps.Find(i.p.Target, key); v != "" {
			// A semicolon stands in a patch in texts alone, where it may be written as an escape.
			out = append(out, key+" "+strings.ReplaceAll(v, ";", `\u003b`))
		}
	}
	return strings.Join(out, "; ")
}

// courseLine reads a line of a target back.
func courseLine(line string) ([]steps.KV, error) {
	var out []steps.KV
	for part := range strings.SplitSeq(line, "; ") {
		i := slices.IndexFunc(courseKeys, func(key string) bool { return strings.HasPrefix(part, key+" ") })
		if i < 0 {
			return nil, fmt.Errorf("%q names no object", steps.Clip(line, 300))
		}
		out = append(out, steps.KV{Key: courseKeys[i], Value: strings.TrimPrefix(part, courseKeys[i]+" ")})
	}
	return out, nil
}

// Find implements steps.Finder.
func (g courseGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.look(before, in, func(gate single, kvs []steps.KV, in steps.Params) (steps.Outcome, error) {
		return gate.Find(ctx, kvs, in, out)
	})
}

// Again implements steps.Rereader.
func (g courseGate) Again(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.look(before, in, func(gate single, kvs []steps.KV, in steps.Params) (steps.Outcome, error) {
		return gate.Again(ctx, kvs, in, out)
	})
}

// look looks at each object of an act by what was recorded when it began.
func (g courseGate) look(before []steps.KV, in steps.Params, one func(single, []steps.KV, steps.Params) (steps.Outcome, error)) (steps.Outcome, error) {
	versions := strings.Split(steps.Find(before, keyVersions), ", ")
	var items []steps.Item
	for n := 0; ; n++ {
		line := steps.Find(before, keyItem(n))
		if line == "" {
			break
		}
		kvs, err := courseLine(line)
		if err != nil {
			return steps.Outcome{}, err
		}
		if n >= len(versions) {
			return steps.Outcome{}, errors.New("the versions of the objects were not recorded")
		}
		for _, key := range []string{act.KeyServer, act.KeyCluster} {
			kvs = append(kvs, steps.KV{Key: key, Value: steps.Find(before, key)})
		}
		kvs = append(kvs, steps.KV{Key: act.KeyVersion, Value: versions[n]})
		object := steps.Find(kvs, act.KeyObject)
		items = append(items, steps.Item{Object: object, Effect: g.verb + " " + object, Before: kvs})
	}
	if len(items) == 0 {
		return steps.Outcome{}, errors.New("no object was recorded")
	}
	return steps.FindBatch(items, func(i int) (steps.Outcome, error) {
		gate, of, err := g.gateOf(items[i].Before, in)
		if err != nil {
			return steps.Outcome{}, err
		}
		return one(gate, items[i].Before, of)
	})
}

// gateOf is the gate of one recorded object: what it was to come to stands in its line, but for an
// object that was made.
func (g courseGate) gateOf(before []steps.KV, in steps.Params) (single, steps.Params, error) {
	switch {
	case steps.Find(before, keyContent) != "":
		list, err := course.Read(g.env, in.Text("changes"))
		if err != nil {
			return nil, nil, err
		}
		for _, c := range list {
			if one := (createGate{env: g.env, made: c.Make}); c.Make != nil {
				if _, err := one.wanted(before, in); err == nil {
					return one, in, nil
				}
			}
		}
		return nil, nil, errors.New("the list of changes changed since the act: look at the object yourself, and record a note")
	case steps.Find(before, act.KeyPatch) != "":
		return newPatchGate(g.env).(alterGate), in, nil
	}
	return deleteGate{env: g.env}, in, nil
}
