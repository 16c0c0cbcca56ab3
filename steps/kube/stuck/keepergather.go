package stuck

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/rbac"
	"handrail/steps/kube/writers"
)

// gather reads the evidence. What cannot be read is a gap, and forbids what would
// need it; the error is for a caller that turned away.
func (x *proof) gather(ctx context.Context, own Sight) error {
	for _, ns := range []string{x.t.Namespace, x.namespaceNamed()} {
		if ns != "" && !slices.Contains(x.homes, ns) {
			x.homes = append(x.homes, ns)
		}
	}
	x.everywhere(ctx, cluster.Leases(), nil, func(o cluster.Object) { x.leases = append(x.leases, o) })
	x.definition(ctx)
	x.called()
	x.autoscaled(ctx)
	for _, r := range append(cluster.Workloads(), cluster.CronJobs()) {
		x.everywhere(ctx, r, nil, func(o cluster.Object) { x.see(r, o) })
	}
	ended := url.Values{"fieldSelector": {"status.phase!=Succeeded,status.phase!=Failed"}}
	x.everywhere(ctx, cluster.Pods(), ended, func(o cluster.Object) {
		if own.seen.Unstructured != nil && podSight("", o).Alive != Dead && sibling(own.seen, o) {
			x.pods = append(x.pods, o)
		}
		x.see(cluster.Pods(), o)
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("looking for who keeps %q: %w", steps.Clip(x.finalizer, 200), err)
	}
	return nil
}

func (x *proof) namespaceNamed() string {
	if x.p == nil {
		return ""
	}
	return x.p.namespace
}

// everywhere lists in the whole cluster, or where that is denied in the
// namespaces that the question names.
func (x *proof) everywhere(ctx context.Context, r cluster.Resource, query url.Values, see func(cluster.Object)) {
	err := x.List(ctx, r.Path("", ""), cluster.AsJSON, query, see)
	if !errors.Is(err, steps.ErrDenied) {
		if err != nil {
			x.gaps = append(x.gaps, fmt.Sprintf("%s cannot be listed: %v", r, err))
		}
		return
	}
	x.narrow = err.Error()
	for _, ns := range x.homes {
		if err := x.List(ctx, r.Path(ns, ""), cluster.AsJSON, query, see); err != nil {
			x.gaps = append(x.gaps, fmt.Sprintf("%s of %s cannot be listed: %v", r, ns, err))
		}
	}
}

func (x *proof) see(r cluster.Resource, o cluster.Object) {
	o.SetKind(r.Kind) // items of a list do not say it
	if x.p != nil && x.p.Kind == r.Kind {
		x.names = append(x.names, o.GetNamespace()+"/"+o.GetName())
	}
	ties := x.ties(o)
	if x.isNamed(r, o) || len(ties) == 0 {
		return
	}
	k := candidate{Resource: r, Object: o, ties: ties}
	if r.Kind == "Pod" {
		k.Sight = podSight(k.String(), o)
	} else {
		k.Sight = working(k.String(), r, o)
	}
	x.found = append(x.found, k)
}

func (x *proof) isNamed(r cluster.Resource, o cluster.Object) bool {
	return x.p != nil && x.p.Kind == r.Kind && x.p.namespace == o.GetNamespace() && x.p.name == o.GetName()
}

// definition reads what the cluster says of the API of the object: which release
// brought it, what answers for it, and which accounts roles let write it by name.
// Of the kinds that every cluster has, such roles say nothing.
func (x *proof) definition(ctx context.Context) {
	if x.t.Group == "" {
		return
	}
	d, err := x.Get(ctx, cluster.Resource{Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition"}, "", x.t.Plural+"."+x.t.Group)
	if err != nil {
		return // built in, or a lead that cannot be followed
	}
	x.api, x.release = x.t.Group, releaseOf(d)
	if service, there, _ := unstructured.NestedMap(d.Object, "spec", "conversion", "webhook", "clientConfig", "service"); there {
		ns, _ := service["namespace"].(string)
		name, _ := service["name"].(string)
		if s, err := x.Get(ctx, cluster.Services(), ns, name); err == nil {
			selector, _, _ := unstructured.NestedMap(s.Object, "spec", "selector")
			x.served = append(x.served, webhookService{ns, object.Texts(selector), "the conversion of " + x.t.Resource.String()})
		}
	}
	walk := rbac.NewWalk([]string{"update", "patch"},
		rbac.Object{Group: x.t.Group, Resource: x.t.Plural, Namespace: x.t.Namespace, Name: x.t.Name},
		rbac.Object{Group: x.t.Group, Resource: x.t.Plural, Subresource: "finalizers", Namespace: x.t.Namespace, Name: x.t.Name})
	if err := writers.RolesAndBindings(ctx, x.Client, x.t, walk.Role, walk.Binding); err != nil {
		return
	}
	for _, g := range walk.Grants() {
		if ns, name, ok := g.Subject.Account(); ok && g.Reach != rbac.Wild {
			x.granted = append(x.granted, ns+"/"+name)
		}
	}
}

// called keeps the holders of Leases that are called after the finalizer, its
// domain or the API.
func (x *proof) called() {
	for _, o := range x.leases {
		if holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity"); holder != "" && x.calledAfter(o.GetName()) {
			x.led = append(x.led, holder)
		}
	}
}

func (x *proof) calledAfter(lease string) bool {
	domain, rest, _ := strings.Cut(x.finalizer, "/")
	for _, word := range []string{domain, x.finalizer, strings.ReplaceAll(x.finalizer, "/", "-"), rest + "." + domain, x.api} {
		if strings.Contains(word, ".") && !strings.HasSuffix(word, ".k8s.io") && endsWord(lease, word) {
			return true
		}
	}
	return false
}

// endsWord: a Lease of a controller is often called after its domain, behind a
// prefix of its own.
func endsWord(s, word string) bool {
	before, ok := strings.CutSuffix(s, word)
	return ok && (before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "-"))
}

// autoscaled looks for an autoscaler that brings a workload back from nothing. A
// plain one leaves it alone there.
func (x *proof) autoscaled(ctx context.Context) {
	if x.p == nil {
		return
	}
	r := cluster.Resource{Group: "autoscaling", Version: "v2", Plural: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler", Namespaced: true}
	_ = x.List(ctx, r.Path(x.p.namespace, ""), cluster.AsJSON, url.Values{"labelSelector": {"scaledobject.keda.sh/name"}}, func(o cluster.Object) { // a lead
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
		if name, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name"); kind == x.p.Kind && name == x.p.name {
			x.scaled = "scaledobject/" + steps.Clip(o.GetLabels()["scaledobject.keda.sh/name"], 200)
		}
	})
}

// candidate is a workload, or a Pod, that evidence ties to a finalizer.
type candidate struct {
	cluster.Resource
	cluster.Object
	ties []string
	Sight
}

func (k candidate) String() string { return k.Label(k.GetNamespace(), k.GetName()) }

// proof gathers who may keep one finalizer, and judges the workload that was
// named.
type proof struct {
	*cluster.Client
	keeperEvidence
	t      cluster.Target
	o      cluster.Object
	p      *Place // what a person named; nil for none
	homes  []string
	narrow string // why only some namespaces were looked at; "" for the whole cluster
	found  []candidate
	pods   []cluster.Object // that run the program of the workload that was named
	able   map[string]bool
	names  []string // of the kind that a person named, as namespace/name
	scaled string   // an autoscaler that brings the named workload back by itself
	leases []cluster.Object
	gaps   []string
}
