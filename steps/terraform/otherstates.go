package terraform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/steps"
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

// sought is what is looked for in other states: addresses, and the objects that a
// gate is about, as type and id.
type sought struct {
	addresses []string
	objects   []objectID
}

type objectID struct{ typ, id string }

// soughtOf is what a state records under addresses.
func soughtOf(t site, addresses ...string) sought {
	q := sought{addresses: addresses}
	for _, address := range addresses {
		for _, e := range t.now.at(address) {
			if e.id != "" && e.mode == "managed" {
				q.objects = append(q.objects, objectID{e.typ, e.id})
			}
		}
	}
	return q
}

// otherStates are the rows of a preview about what other states record. Nothing that
// it could not read keeps a gate shut: it is said.
func (t site) otherStates(ctx context.Context, env steps.Env, out steps.Sink, q sought) []steps.KV {
	ctx, cancel := context.WithTimeout(ctx, otherWithin)
	defer cancel()
	var rows, unread []steps.KV
	gap := func(where string, err error) {
		unread = append(unread, steps.KV{Key: keyUnsought, Value: clip(where+": "+err.Error(), 300)})
	}
	look := func(where string, r stateRead, err error) {
		found, err := q.in(ctx, r, err, out)
		for _, text := range found {
			rows = append(rows, steps.KV{Key: keyAlike, Value: text + " in " + where})
		}
		if err != nil {
			gap(where, err)
		}
	}
	names, err := workspaces(ctx, t.s, t.w)
	if err != nil {
		gap("other workspaces", err)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == t.w.space || !validWorkspace(name) })
	if len(names) > mostStates {
		gap("other workspaces", fmt.Errorf("there are %d, and %d are looked at", len(names), mostStates))
		names = names[:mostStates]
	}
	for _, name := range names {
		w := t.w
		w.space = name
		s, err := openStore(ctx, env, w, out)
		var r stateRead
		if err == nil {
			r, err = s.state(ctx)
		}
		look("the workspace "+name, r, err)
	}
	for _, file := range filesBeside(t) {
		r, err := (&local{env: env, path: file, dir: t.w.dir}).state(ctx)
		look(file, r, err)
	}
	if more := len(rows) - mostAlike; more > 0 {
		rows = append(rows[:mostAlike], steps.KV{Key: "more look-alikes", Value: fmt.Sprintf("%d in other states", more)})
	}
	return append(rows, unread...)
}

// in names what another state records of what is sought.
func (q sought) in(ctx context.Context, r stateRead, failed error, out steps.Sink) ([]string, error) {
	switch {
	case failed != nil:
		return nil, failed
	case !r.exists:
		return nil, nil
	case r.body == nil:
		return nil, fmt.Errorf("it cannot be read: %s", r.broken)
	}
	defer r.body.Close()
	var found []string
	see := func(i *tfstate.Instance) error {
		id := tfstate.ID(i.Attributes)
		same := i.Mode == "managed" && slices.Contains(q.objects, objectID{i.Type, id})
		there := slices.Contains(q.addresses, i.Address) && i.Deposed == ""
		switch {
		case same && there:
			found = append(found, clip(i.Address, 300)+": the same object ("+clip(id, 200)+") at the same address; both states change it,")
		case same:
			found = append(found, clip(i.Address, 300)+": the same object ("+clip(id, 200)+"); both states change it,")
		case there:
			found = append(found, clip(i.Address, 300)+": the same address, another object ("+orUnknown(clip(id, 200))+")")
		}
		return ctx.Err()
	}
	doc, err := tfstate.Read(bounded(ctx, io.LimitReader(r.body, maxLedger)), tfstate.Options{Secret: out.Secret, Visit: see})
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

// filesBeside are the state files in the directory of a root module that are not its
// own: one from before the backend, of another path, or one that a run could not save.
func filesBeside(t site) []string {
	list, err := os.ReadDir(t.w.dir)
	if err != nil {
		return nil // the directory was just read; what is gone is not beside
	}
	own := ""
	if l, ok := t.s.(*local); ok {
		own = l.path
	}
	var out []string
	for _, e := range list {
		name := filepath.Join(t.w.dir, e.Name())
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".tfstate") && name != own && len(out) < mostStates {
			out = append(out, name)
		}
	}
	return out
}

// localSpaces are the workspaces of the backend of plain files.
func localSpaces(w workdir) ([]string, error) {
	root := w.str("workspace_dir")
	if root == "" {
		root = "terraform.tfstate.d"
	}
	if !filepath.IsAbs(root) {
		root = filepath.Join(w.dir, root)
	}
	list, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{"default"}, nil
	}
	out := []string{"default"}
	for _, e := range list {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, err
}
