package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/allowlist"
)

// looseObjects are the objects of a resource that nothing which is listed whole has
// made, among all of the resource.
type looseObjects struct {
	names map[string][]string // namespace to names
	among map[string]int      // namespace to how many of the resource there are
}

// perRequest is how many objects of a list cost a server as much as one more
// request does.
const perRequest = 100

// looseRead is one way to read some of them: name is one object, no name is a
// namespace, and no namespace the cluster.
type looseRead struct{ namespace, name string }

// ways says how they are read with the least work for the server: one by one, all
// of a namespace, or all of the cluster.
func (l *looseObjects) ways() []looseRead {
	var out []looseRead
	all, cost := 1, 0
	for _, n := range l.among {
		all += n / perRequest
	}
	for _, ns := range slices.Sorted(maps.Keys(l.names)) {
		if whole := 1 + l.among[ns]/perRequest; whole < len(l.names[ns]) {
			out = append(out, looseRead{namespace: ns})
			cost += whole
			continue
		}
		for _, name := range l.names[ns] {
			out = append(out, looseRead{ns, name})
		}
		cost += len(l.names[ns])
	}
	if all < cost {
		return []looseRead{{}}
	}
	return out
}

// planLoose plans to read what nothing that is listed whole has made.
func (w *collector) planLoose() {
	for _, kind := range []string{"pods", "replicasets.apps"} {
		r, l := w.served.By[kind], w.loose[kind]
		if l == nil {
			continue
		}
		path := []string{"spec"}
		if kind != "pods" {
			path = []string{"spec", "template", "spec"}
		}
		for _, names := range l.names {
			slices.Sort(names)
		}
		see := func(o cluster.Object) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if phase, _, _ := unstructured.NestedString(o.Object, "status", "phase"); phase == "Succeeded" || phase == "Failed" {
				return
			}
			w.runs = append(w.runs, w.runOf(r, o, path...))
		}
		for _, way := range l.ways() {
			if way.name != "" {
				w.reads = append(w.reads, func(ctx context.Context) { w.readLoose(ctx, r, way, see) })
				continue
			}
			w.reads = append(w.reads, func(ctx context.Context) {
				w.listLoose(ctx, r, way.namespace, func(o cluster.Object) {
					if _, is := slices.BinarySearch(l.names[o.GetNamespace()], o.GetName()); is {
						see(o)
					}
				})
			})
		}
	}
}

// listLoose lists a namespace, or with "" the cluster.
func (w *collector) listLoose(ctx context.Context, r cluster.Resource, namespace string, see func(cluster.Object)) {
	if err := w.ListForm(ctx, r, namespace, Whole(r, true), see); err != nil {
		of := r.String()
		if namespace != "" {
			of += " of namespace " + namespace
		}
		w.miss(fmt.Sprintf("%s: %v", of, err), allowlist.Workloads, allowlist.HostAccess)
	}
}

// readLoose reads one object. One that is gone meanwhile writes nothing.
func (w *collector) readLoose(ctx context.Context, r cluster.Resource, way looseRead, see func(cluster.Object)) {
	err := ctx.Err()
	if err == nil {
		func() {
			defer fault.To(func(e error) { err = e })
			var o cluster.Object
			if o, err = w.Get(ctx, r, way.namespace, way.name); err == nil {
				see(o)
			}
		}()
	}
	if err != nil && !errors.Is(err, cluster.ErrAbsent) {
		w.miss(fmt.Sprintf("%s: %v", r.Label(way.namespace, way.name), err), allowlist.Workloads, allowlist.HostAccess)
	}
}
