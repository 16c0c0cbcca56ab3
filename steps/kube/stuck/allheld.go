package stuck

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func allHeldFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many objects hang in deletion, each held by a finalizer; unknown where not everything could be listed"},
		{Name: "by_finalizer", Type: steps.Table, Doc: "finalizer to how many of them it holds"},
		{Name: "uids", Type: steps.Table, Doc: "the first 500 as resource/namespace/name or resource/name, each with its UID"},
		{Name: "names", Type: steps.Strings, Doc: "the same, in order"},
	}
}

// allHeldProbe lists all that hangs in deletion, grouped by what holds it.
type allHeldProbe struct{ env steps.Env }

// heldObject is one object that hangs in deletion.
type heldObject struct {
	name, uid  string
	finalizers []string
}

// Probe implements steps.Prober.
func (p allHeldProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := c.Discover(ctx); err != nil {
		return steps.Observation{}, c.Explain("discovery of", "what it serves", err)
	}
	space, finalizer := in.Text("namespace"), in.Text("finalizer")
	all, trouble := c.Listable(true)
	var missing []string
	if space == "" {
		more, also := c.Listable(false)
		// What holds a namespace is inside it.
		all = append(all, slices.DeleteFunc(more, func(r cluster.Resource) bool { return r.Group == "" && r.Plural == "namespaces" })...)
		trouble = also
	}
	if trouble != "" {
		missing = append(missing, "the kinds of "+trouble+", which discovery failed for")
	}
	var mu sync.Mutex
	found := map[string]heldObject{} // by UID: one object may be served under two groups
	missing = append(missing, sweepEach(ctx, c, all, space, func(r cluster.Resource, o cluster.Object) {
		uid, held := string(o.GetUID()), o.GetFinalizers()
		if uid == "" || o.GetDeletionTimestamp() == nil || len(held) == 0 || finalizer != "" && !slices.Contains(held, finalizer) {
			return
		}
		name := r.String() + "/" + o.GetName()
		if r.Namespaced {
			name = r.String() + "/" + o.GetNamespace() + "/" + o.GetName()
		}
		mu.Lock()
		defer mu.Unlock()
		if was, twice := found[uid]; !twice || name < was.name {
			found[uid] = heldObject{name, uid, held}
		}
	})...)
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("what hangs in deletion: %w", err)
	}
	list := slices.SortedFunc(maps.Values(found), func(a, b heldObject) int { return strings.Compare(a.name, b.name) })
	return told(c, list, missing, space, finalizer, out), nil
}

// first names the first of a list, and how many more there are.
func first(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// told says what hangs in deletion.
func told(c *cluster.Client, list []heldObject, missing []string, space, finalizer string, out steps.Sink) steps.Observation {
	f := steps.NewFacts(allHeldFacts())
	args := []string{"get", "all", "-o", "custom-columns=KIND:.kind,NAME:.metadata.name,DELETED:.metadata.deletionTimestamp,FINALIZERS:.metadata.finalizers"}
	if space == "" {
		args = append(args, "-A")
	}
	obs := steps.Observation{Command: c.Kubectl(space, args...)}
	by, uids, names := map[string][]string{}, map[string]string{}, []string{}
	for _, o := range list {
		for _, name := range o.finalizers {
			if finalizer == "" || name == finalizer {
				by[name] = append(by[name], o.name)
			}
		}
		if len(uids) < report.MostNames {
			uids[o.name], names = o.uid, append(names, o.name)
		}
	}
	counts := map[string]int{}
	var each []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		counts[name] = len(by[name])
		each = append(each, fmt.Sprintf("%s holds %d", steps.Clip(name, 200), len(by[name])))
		obs.Say(steps.Warning, "%s holds %d: %s.", steps.Clip(name, 200), len(by[name]), first(by[name], 5))
	}
	f.Set("uids", steps.TableOf(uids))
	f.Set("names", steps.StringsOf(names))
	for _, m := range missing {
		obs.Gaps = append(obs.Gaps, "what hangs in deletion: "+m)
	}
	obs.Summary = fmt.Sprintf("%d objects hang in deletion, each held by a finalizer", len(list))
	if len(each) > 0 {
		obs.Summary += ": " + steps.Clip(strings.Join(each, ", "), 400)
	}
	obs.Summary += "."
	if len(missing) > 0 {
		f.Unknown("not everything could be listed: "+steps.Clip(strings.Join(missing, "; "), 300), "count", "by_finalizer")
		obs.Summary += " Not everything could be listed."
	} else {
		f.Set("count", steps.IntOf(int64(len(list))))
		f.Set("by_finalizer", steps.TableOf(counted(counts)))
	}
	if len(list) > 0 {
		if gap := steps.Keep(out, "held", steps.MediaText, func(w io.Writer) error {
			var text strings.Builder
			for _, name := range slices.Sorted(maps.Keys(by)) {
				fmt.Fprintf(&text, "%s: %d\n", name, len(by[name]))
				for _, o := range by[name][:min(len(by[name]), mostKept)] {
					text.WriteString("  " + o + "\n")
				}
			}
			_, err := io.WriteString(w, text.String())
			return err
		}); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
	obs.Facts = f.Rest("not read")
	return obs
}
