package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfstate"
)

// What a gate is about may be recorded in another state as well: of another workspace
// of the same backend, or in a file beside. Under the same address stands another
// object there, and the same object under two states is changed by both.

const (
	// mostStates bounds the states that are read, and otherWithin the time for all.
	mostStates  = 20
	otherWithin = 20 * time.Second
	// mostAlike is how many look-alikes a gate shows.
	mostAlike = 10
	// keyAlike is a row that stands as NOT THIS, keyUnsought one that says what was not
	// looked at.
	keyAlike    = "look-alike"
	keyUnsought = "no look-alikes sought in"
)

// query is what is looked for in other states: addresses, and the objects that a
// gate is about, as type and id.
type query struct {
	addresses []string
	objects   []objectID
}

type objectID struct{ typ, id string }

// queryOf is what a state records under addresses.
func queryOf(t site, addresses ...string) query {
	q := query{addresses: addresses}
	for _, address := range addresses {
		for _, e := range t.now.At(address) {
			if e.ID != "" && e.Mode == "managed" {
				q.objects = append(q.objects, objectID{e.Type, e.ID})
			}
		}
	}
	return q
}

// otherStates are the rows of a preview about what other states record. Nothing that
// it could not read keeps a gate shut: it is said.
func (t site) otherStates(ctx context.Context, env steps.Env, out steps.Sink, q query) []steps.KV {
	ctx, cancel := context.WithTimeout(ctx, otherWithin)
	defer cancel()
	var rows, unread []steps.KV
	gap := func(where string, err error) {
		unread = append(unread, steps.KV{Key: keyUnsought, Value: steps.Clip(where+": "+err.Error(), 300)})
	}
	look := func(where string, r backend.State, err error) {
		found, err := q.in(ctx, r, err, out)
		for _, text := range found {
			rows = append(rows, steps.KV{Key: keyAlike, Value: text + " in " + where})
		}
		if err != nil {
			gap(where, err)
		}
	}
	names, err := backend.Workspaces(ctx, t.s, t.w)
	if err != nil {
		gap("other workspaces", err)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == t.w.Space || !module.ValidWorkspace(name) })
	if len(names) > mostStates {
		gap("other workspaces", fmt.Errorf("there are %d, and %d are looked at", len(names), mostStates))
		names = names[:mostStates]
	}
	for _, name := range names {
		w := t.w
		w.Space = name
		s, err := backend.Open(ctx, env, w, out)
		var r backend.State
		if err == nil {
			r, err = s.State(ctx)
		}
		look("the workspace "+name, r, err)
	}
	for _, file := range backend.FilesBeside(t.s, t.w) {
		r, err := backend.OpenFile(env, t.w, file).State(ctx)
		look(file, r, err)
	}
	if more := len(rows) - mostAlike; more > 0 {
		rows = append(rows[:mostAlike], steps.KV{Key: "more look-alikes", Value: fmt.Sprintf("%d in other states", more)})
	}
	return append(rows, unread...)
}

// in names what another state records of what is sought.
func (q query) in(ctx context.Context, r backend.State, failed error, out steps.Sink) ([]string, error) {
	switch {
	case failed != nil:
		return nil, failed
	case !r.Exists:
		return nil, nil
	case r.Body == nil:
		return nil, fmt.Errorf("it cannot be read: %s", r.Broken)
	}
	defer r.Body.Close()
	var found []string
	see := func(i *tfstate.Instance) error {
		id := tfstate.ID(i.Attributes)
		same := i.Mode == "managed" && slices.Contains(q.objects, objectID{i.Type, id})
		there := slices.Contains(q.addresses, i.Address) && i.Deposed == ""
		switch {
		case same && there:
			found = append(found, steps.Clip(i.Address, 300)+": the same object ("+steps.Clip(id, 200)+") at the same address; both states change it,")
		case same:
			found = append(found, steps.Clip(i.Address, 300)+": the same object ("+steps.Clip(id, 200)+"); both states change it,")
		case there:
			found = append(found, steps.Clip(i.Address, 300)+": the same address, another object ("+prose.OrUnknown(steps.Clip(id, 200))+")")
		}
		return ctx.Err()
	}
	doc, err := tfstate.Read(module.Until(ctx, io.LimitReader(r.Body, backend.MaxHeld)), tfstate.Options{Secret: out.Secret, Visit: see})
	switch {
	case err != nil:
		return found, err
	case doc.Encrypted:
		return found, errors.New("it is encrypted by tofu")
	case len(doc.Faults) > 0:
		return found, errors.New(doc.Faults[0].Say)
	}
	return found, nil
}
