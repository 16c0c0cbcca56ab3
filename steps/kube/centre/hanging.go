package centre

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// hangsAfter is how long an object may take to go before it counts as hanging.
// The deletion time of a Pod lies at the end of its grace period.
const hangsAfter = time.Minute

// hanging finds what is to be deleted and does not go: namespaces with what they
// say of themselves, and the objects that people wait for.
func (s *Centre) hanging(ctx context.Context, w *answer) {
	overdue := func(o cluster.Object) bool {
		at := o.GetDeletionTimestamp()
		return at != nil && time.Since(at.Time) > hangsAfter
	}
	r := cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}
	s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
		if !overdue(o) && !emptyingFails(o) {
			return
		}
		w.row(steps.Standing{Level: steps.Warning, What: saying("hangs in deletion", remaining(o)), Where: r.Label("", o.GetName()), Since: o.GetDeletionTimestamp().Time,
			Owner: keptBy(o), Detail: remaining(o), Command: s.get(r, o), Runbook: "stuck-finalizer", Params: map[string]string{"space": o.GetName()}})
	})
	for _, r := range []cluster.Resource{
		{Version: "v1", Plural: "pods", Kind: "Pod", Namespaced: true},
		{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true},
		{Group: "apps", Version: "v1", Plural: "statefulsets", Kind: "StatefulSet", Namespaced: true},
		{Version: "v1", Plural: "services", Kind: "Service", Namespaced: true},
		{Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true},
		{Version: "v1", Plural: "persistentvolumes", Kind: "PersistentVolume"},
		{Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition"},
	} {
		from := len(w.Rows)
		var late []cluster.Object
		s.every(ctx, w, r, cluster.AsMetaList, nil, func(o cluster.Object) {
			if !overdue(o) {
				return
			}
			late = append(late, o)
			if row, is := s.finalizing(r, o); is {
				w.row(row)
				return
			}
			w.row(steps.Standing{Level: steps.Warning, What: "hangs in deletion, and no finalizer holds it: its node or its children are still there",
				Where: r.Label(o.GetNamespace(), o.GetName()), Since: o.GetDeletionTimestamp().Time, Owner: keptBy(o), Command: s.get(r, o)})
		})
		s.tellWhy(ctx, w, r, late, from)
	}
}

// tellWhy adds to the rows from one on what their objects say of themselves, which a
// list of metadata does not have.
func (s *Centre) tellWhy(ctx context.Context, w *answer, r cluster.Resource, late []cluster.Object, from int) {
	said := map[string]string{}
	for _, o := range late[:min(len(late), mostAsked)] {
		whole, err := s.c.Get(ctx, r, o.GetNamespace(), o.GetName())
		if err == nil { // what cannot be read adds nothing: the row stands
			said[r.Label(o.GetNamespace(), o.GetName())] = troubles(whole)
		}
	}
	for i := min(from, len(w.Rows)); i < len(w.Rows); i++ {
		row := &w.Rows[i]
		if why := said[row.Where]; why != "" {
			row.What = steps.OneLine(row.What+"; "+why, 200)
			row.Detail = steps.Clip(why, 600)
		}
	}
}

// emptyingFails: the namespace controller says of a namespace that it cannot find or delete
// what is in it. That does not pass by waiting.
func emptyingFails(o cluster.Object) bool {
	if o.GetDeletionTimestamp() == nil {
		return false
	}
	conditions := conditionsOf(o)
	for _, kind := range []string{"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionContentFailure"} {
		if conditions[kind].status == "True" {
			return true
		}
	}
	return false
}

// remaining is what a namespace says of what it still holds.
func remaining(o cluster.Object) string {
	var out []string
	conditions := conditionsOf(o)
	for _, kind := range slices.Sorted(maps.Keys(conditions)) {
		if c := conditions[kind]; c.status == "True" && strings.HasPrefix(kind, "Namespace") && c.message != "" {
			out = append(out, fmt.Sprintf("%s: %s", kind, c.message))
		}
	}
	return strings.Join(out, "\n")
}
