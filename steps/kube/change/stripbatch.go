package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/act"
	"handrail/steps/kube/alike"
	"handrail/steps/kube/report"
)

// mostStripped bounds one batch: a person must be able to read it, and its preview
// to be read twice while they do. What is beyond waits for the next.
const mostStripped = 40

// previewsAtOnce is how many objects of a batch are read at the same time.
const previewsAtOnce = 6

// keyVersions are those of the items, in their order: free to change.
const keyVersions = "versions"

// stripBatchGate removes one finalizer from each of several objects, each by a
// request of its own.
type stripBatchGate struct{ env steps.Env }

// namedObject is one object of the list.
type namedObject struct{ key, uid, finalizer string }

// listed reads the list: names by resource/namespace/name, or resource/name, with
// UIDs, and the finalizer of each.
func (g stripBatchGate) listed(in steps.Params) []namedObject {
	var out []namedObject
	uids, held := in["uids"].Table(), in["finalizers"].Table()
	for _, key := range slices.Sorted(maps.Keys(uids)) {
		of := in.Text("finalizer")
		if of == "" {
			of = held[key]
		}
		out = append(out, namedObject{key, uids[key], of})
	}
	return out
}

// params are those of the strip of one.
func (n namedObject) params(controller string) (steps.Params, error) {
	parts := strings.Split(n.key, "/")
	if len(parts) != 2 && len(parts) != 3 {
		return nil, fmt.Errorf("%q is no resource/namespace/name", steps.Clip(n.key, 300))
	}
	in := steps.Params{"resource": steps.StringOf(parts[0]), "name": steps.StringOf(parts[len(parts)-1]),
		"uid": steps.IdentOf(n.uid), "finalizer": steps.StringOf(n.finalizer)}
	if len(parts) == 3 {
		in["namespace"] = steps.StringOf(parts[1])
	}
	if controller != "" {
		in["controller"] = steps.StringOf(controller)
	}
	return in, nil
}

// stripItem is one object of a batch, as it was previewed.
type stripItem struct {
	in steps.Params
	p  steps.Preview
}

func (i stripItem) object() string { return steps.Find(i.p.Target, act.KeyObject) }

// keyItem is the line of one item in the target.
func keyItem(i int) string { return fmt.Sprintf("item %d", i+1) }

// itemKeys are what a line of the target tells of an item, in order.
var itemKeys = []string{act.KeyObject, act.KeyPath, act.KeyUID, act.KeyFinalizer, act.KeyFinalizers, act.KeyDeletion}

// line is an item as it stands in the target: what the preview of it alone identifies.
func (i stripItem) line() string {
	var out []string
	for _, key := range itemKeys {
		out = append(out, key+" "+steps.Find(i.p.Target, key))
	}
	return strings.Join(out, "; ")
}

// itemOf reads a line of a target back.
func itemOf(line string) ([]steps.KV, error) {
	parts := strings.Split(line, "; ")
	if len(parts) != len(itemKeys) {
		return nil, fmt.Errorf("%q names no object", steps.Clip(line, 300))
	}
	var out []steps.KV
	for n, key := range itemKeys {
		value, ok := strings.CutPrefix(parts[n], key+" ")
		if !ok {
			return nil, fmt.Errorf("%q names no object", steps.Clip(line, 300))
		}
		out = append(out, steps.KV{Key: key, Value: value})
	}
	return out, nil
}

// Preview implements steps.Gater.
func (g stripBatchGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	list := g.listed(in)
	p := steps.Preview{}
	f := floors{&p.Unmet}
	if len(list) == 0 {
		f.unmet("read what is held again", "No object is named.")
		return p, nil
	}
	beyond := len(list) - mostStripped
	items, gone, err := g.each(ctx, list[:min(len(list), mostStripped)], in.Text("controller"), out)
	if err != nil {
		return steps.Preview{}, err
	}
	if len(gone) > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "gone already", Value: steps.Clip(strings.Join(gone, ", "), 600)})
	}
	if beyond > 0 {
		p.Shown = append(p.Shown, steps.KV{Key: "not in this batch", Value: fmt.Sprintf("%d more: show this gate again once it is done, and read first what is still held", beyond)})
	}
	if len(items) == 0 {
		f.unmet("nothing: look what made them go, and go on", "None of the %d objects is there any more.", len(gone))
		return p, nil
	}
	g.together(items, &p)
	return p, ctx.Err()
}

// each previews every object of a list by itself. One that is not there is left out,
// and named.
func (g stripBatchGate) each(ctx context.Context, list []namedObject, controller string, out steps.Sink) (items []stripItem, gone []string, err error) {
	got, errs := make([]stripItem, len(list)), make([]error, len(list))
	slots := make(chan struct{}, previewsAtOnce)
	var wait sync.WaitGroup
	for i, n := range list {
		wait.Go(func() {
			defer fault.To(func(err error) { errs[i] = err })
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				errs[i] = ctx.Err()
				return
			}
			if got[i].in, errs[i] = n.params(controller); errs[i] == nil {
				got[i].p, errs[i] = g.one(ctx, got[i].in, out)
			}
		})
	}
	wait.Wait()
	for i, n := range list {
		switch {
		case errs[i] != nil:
			return nil, nil, fmt.Errorf("%s: %w", n.key, errs[i])
		case steps.Find(got[i].p.Target, act.KeyUID) == report.Nothing:
			gone = append(gone, n.key)
		default:
			items = append(items, got[i])
		}
	}
	return items, gone, nil
}

// one previews the strip of one object. Of an object in a list no person has looked at
// the owners: it has to be seen to have none.
func (g stripBatchGate) one(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	p, err := stripGate(g).Preview(ctx, in, out)
	if err != nil || len(p.Unmet) > 0 {
		return p, err
	}
	c, t, err := cluster.Reach(ctx, g.env, in, out)
	if err != nil {
		return p, err
	}
	o, err := c.Get(ctx, t.Resource, t.Namespace, t.Name)
	if errors.Is(err, cluster.ErrAbsent) {
		floors{&p.Unmet}.unmet("read what is held again", "%s went away while it was read.", t)
		return p, nil
	}
	if err != nil {
		return p, err
	}
	orphan, why, known, err := alike.Orphan(ctx, c, t, o)
	switch {
	case err != nil:
		return p, err
	case !known:
		floors{&p.Unmet}.unmet("take it by itself, or get the right to read what is named", "Whether %s is unmanaged is not known: %s.", t, report.Ended(why))
	case !orphan:
		floors{&p.Unmet}.unmet("take it out of the list; leave it to its owner, or take it by itself", "%s is managed: %s.", t, report.Ended(why))
	}
	return p, nil
}

// together makes one preview of those of the items.
func (g stripBatchGate) together(items []stripItem, p *steps.Preview) {
	var objects, versions, requests, commands, owned []string
	by := map[string]int{}
	mine := map[string]bool{}
	for _, it := range items {
		mine[it.object()] = true
	}
	for _, key := range []string{act.KeyServer, act.KeyCluster} {
		p.Target = append(p.Target, steps.KV{Key: key, Value: steps.Find(items[0].p.Target, key)})
	}
	vanish, seen := 0, map[string]bool{}
	var beside []steps.KV
	for n, it := range items {
		object := it.object()
		objects = append(objects, object)
		versions = append(versions, steps.Find(it.p.Shown, act.KeyVersion))
		requests, commands = append(requests, it.p.Request), append(commands, it.p.Command)
		by[steps.Find(it.p.Target, act.KeyFinalizer)]++
		p.Target = append(p.Target, steps.KV{Key: keyItem(n), Value: it.line()})
		for _, line := range it.p.Diff {
			p.Diff = append(p.Diff, object+": "+line)
		}
		if strings.Contains(it.p.Undo, "the object is gone") {
			vanish++
		}
		for _, u := range it.p.Unmet {
			p.Unmet = append(p.Unmet, steps.Need{Why: u.Why, Cure: u.Cure})
		}
		for _, o := range it.p.Owners {
			if !slices.Contains(owned, o.Name) {
				owned, p.Owners = append(owned, o.Name), append(p.Owners, o)
			}
		}
		for _, d := range it.p.Owes {
			d.Item = object
			d.Text = strings.Replace(d.Text, " never ran for "+object+": ", " never ran: ", 1)
			p.Owes = append(p.Owes, d)
		}
		for _, kv := range it.p.Shown {
			name, _, _ := strings.Cut(kv.Value, ":")
			switch {
			case kv.Key == act.KeyVersion || kv.Key == act.KeyRest || kv.Key == "age" || kv.Key == "being deleted for" || seen[kv.Key+kv.Value]:
			case kv.Key == act.KeyAlike && (mine[name] || kv.Value == report.Nothing):
			default:
				seen[kv.Key+kv.Value] = true
				beside = append(beside, kv)
			}
		}
	}
	var grouped []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		grouped = append(grouped, fmt.Sprintf("%s from %d", name, by[name]))
	}
	p.Shown = append([]steps.KV{{Key: "by finalizer", Value: strings.Join(grouped, ", ")}}, append(p.Shown, beside...)...)
	p.Shown = append(p.Shown, steps.KV{Key: keyVersions, Value: strings.Join(versions, ", ")})
	p.Shown = append(p.Shown, spaces(objects)...)
	p.Phrase = steps.BatchPhrase("patch", objects)
	p.Target = append(p.Target, steps.KV{Key: act.KeyObject, Value: strings.TrimPrefix(p.Phrase, "patch ")})
	p.Request, p.Command = strings.Join(requests, "\n"), strings.Join(commands, "\n")
	p.Effect = fmt.Sprintf("remove a finalizer from each of %d objects, one after the other (%s). It stops at the first that does not come out as rehearsed, and leaves the rest. %d of them go at once, with what they alone own. No clean-up ever runs for any of them.",
		len(items), strings.Join(grouped, ", "), vanish)
	p.Undo = "Cannot be undone for those that are being deleted: they can only be made again, under new UIDs. To the others the finalizer can be put back."
	p.Prior = priorOf(items)
	p.Args = items
}

// spaces are the namespaces of the objects: what a policy says of one holds for the
// batch.
func spaces(objects []string) []steps.KV {
	var out []steps.KV
	for _, object := range objects {
		if parts := strings.Split(object, "/"); len(parts) == 3 {
			if kv := (steps.KV{Key: "namespace", Value: parts[1]}); !slices.Contains(out, kv) {
				out = append(out, kv)
			}
		}
	}
	return out
}

// priorOf is one list of all objects that go.
func priorOf(items []stripItem) *steps.Prior {
	var all []json.RawMessage
	back := ""
	for _, it := range items {
		if it.p.Prior != nil {
			all, back = append(all, it.p.Prior.Raw), it.p.Prior.Back
		}
	}
	if len(all) == 0 {
		return nil
	}
	raw, err := act.Compact(map[string]any{"apiVersion": "v1", "kind": "List", "items": all})
	if err != nil {
		return nil
	}
	return &steps.Prior{Media: steps.MediaKubernetes, Raw: raw, Back: back}
}
