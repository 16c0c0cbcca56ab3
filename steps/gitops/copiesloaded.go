package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
	"handrail/steps/kube/workload"
)

// What the Pods beside a copy hold of it.
const (
	loadedOld  = "old"
	loadedNew  = "new"
	loadedNone = "none"
)

// workloadRef is a workload that could be restarted.
type workloadRef struct{ resource, namespace, name, uid string }

func (w workloadRef) String() string { return w.resource + "/" + w.namespace + "/" + w.name }

// takers says whether the Pods of the namespace took the copy before its last write.
func (r *copiesRun) takers(ctx context.Context, c *copyOf) {
	var at time.Time
	for i, w := range c.writers {
		if c.values[i] == "" {
			continue
		}
		if !w.known || w.at.IsZero() {
			c.loadedWhy = "when the copy was written is not recorded"
			return
		}
		if w.at.After(at) {
			at = w.at
		}
	}
	c.loaded = loadedNone
	var old []podstate.Pod
	err := cluster.Each(ctx, r.c, cluster.Pods().Path(c.namespace, ""), nil, func(p podstate.Pod) {
		if p.Metadata.DeletionTimestamp != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			return
		}
		for _, started := range workload.TookConfigMap(p, c.name, r.key(0), r.key(1)) {
			switch was := takenAt(started, at); {
			case was == "":
				c.loadedWhy = fmt.Sprintf("pod %s/%s: whether it started before the write cannot be told", c.namespace, p.Metadata.Name)
			case was == loadedOld:
				c.loaded = loadedOld
				old = append(old, p)
			case c.loaded == loadedNone:
				c.loaded = loadedNew
			}
		}
	})
	if err != nil {
		c.loadedWhy = "the Pods cannot be listed: " + report.Why(err)
	}
	for _, p := range old {
		of, err := r.workloadOf(ctx, p)
		if err != nil {
			c.loadedWhy = fmt.Sprintf("what runs pod %s/%s: %s", c.namespace, p.Metadata.Name, report.Why(err))
			continue
		}
		if !slices.Contains(c.old, of) {
			c.old = append(c.old, of)
		}
	}
	slices.SortFunc(c.old, func(a, b workloadRef) int { return strings.Compare(a.String(), b.String()) })
	if c.loadedWhy != "" && c.loaded != loadedOld {
		c.loaded = ""
	}
}

// takenAt says what a container holds that started at a time; "" within the second of the write,
// and where it has not started.
func takenAt(started, written time.Time) string {
	switch {
	case started.IsZero(), started.Truncate(time.Second).Equal(written.Truncate(time.Second)):
		return ""
	case started.Before(written):
		return loadedOld
	}
	return loadedNew
}

// workloadOf is what makes a Pod anew when it is restarted.
func (r *copiesRun) workloadOf(ctx context.Context, p podstate.Pod) (workloadRef, error) {
	refs, namespace := p.Metadata.OwnerReferences, p.Metadata.Namespace
	for range mostParents {
		i := slices.IndexFunc(refs, func(o podstate.Owner) bool { return o.Controller })
		if i < 0 {
			return workloadRef{}, errors.New("no workload makes it")
		}
		t, o, err := r.c.Lookup(ctx, refs[i].APIVersion, refs[i].Kind, namespace, refs[i].Name)
		if err != nil {
			return workloadRef{}, err
		}
		if string(o.GetUID()) != refs[i].UID {
			return workloadRef{}, fmt.Errorf("%s has another UID than its owner", t)
		}
		refs = refs[:0:0]
		for _, up := range o.GetOwnerReferences() {
			refs = append(refs, podstate.Owner{APIVersion: up.APIVersion, Kind: up.Kind, Name: up.Name, UID: string(up.UID), Controller: up.Controller != nil && *up.Controller})
		}
		if t.Kind != "ReplicaSet" || len(refs) == 0 {
			return workloadRef{t.Resource.String(), namespace, t.Name, string(o.GetUID())}, nil
		}
	}
	return workloadRef{}, errors.New("its owners have no end")
}

// tellLoaded says which Pods hold an older copy.
func (r *copiesRun) tellLoaded() {
	table, all, unknown := map[string]string{}, []string{}, ""
	for _, c := range r.copies {
		switch {
		case c.loaded != "":
			table[c.String()] = c.loaded
		default:
			table[c.String()] = "not known: " + steps.Clip(c.loadedWhy, 300)
			unknown = c.loadedWhy
			r.obs.Gaps = append(r.obs.Gaps, c.loadedWhy)
		}
		for _, w := range c.old {
			all = append(all, w.String())
		}
		if c.side == "" {
			continue
		}
		names := []string{c.side + "_old_resource", c.side + "_old_name", c.side + "_old_uid"}
		switch {
		case c.loaded == "":
			r.f.Unknown(c.loadedWhy, names...)
		case len(c.old) == 0:
			r.f.Set(names[0], steps.StringOf(""))
			r.f.Set(names[1], steps.StringOf(""))
			r.f.Unknown("no workload beside it holds an older copy", names[2])
		default:
			r.f.Set(names[0], steps.StringOf(c.old[0].resource))
			r.f.Set(names[1], steps.StringOf(c.old[0].name))
			r.f.Set(names[2], steps.IdentOf(c.old[0].uid))
		}
	}
	r.f.Set("loaded", steps.TableOf(table))
	if unknown != "" {
		r.f.Unknown(unknown, "old")
		return
	}
	r.f.Set("old", steps.StringsOf(all))
}
