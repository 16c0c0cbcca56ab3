package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/kube/rbac"
)

// gather reads the evidence. What cannot be read is a gap, and forbids what would
// need it; the error is for a caller that turned away.
func (x *proof) gather(ctx context.Context, own sight) error {
	for _, ns := range []string{x.t.namespace, x.namespaceNamed()} {
		if ns != "" && !slices.Contains(x.homes, ns) {
			x.homes = append(x.homes, ns)
		}
	}
	x.everywhere(ctx, leases(), nil, func(o object) { x.leases = append(x.leases, o) })
	x.definition(ctx)
	x.called()
	x.autoscaled(ctx)
	for _, r := range append(workloads(), cronjobs()) {
		x.everywhere(ctx, r, nil, func(o object) { x.see(r, o) })
	}
	ended := url.Values{"fieldSelector": {"status.phase!=Succeeded,status.phase!=Failed"}}
	x.everywhere(ctx, pods(), ended, func(o object) {
		if own.seen.Unstructured != nil && podSight("", o).alive != dead && sibling(own.seen, o) {
			x.pods = append(x.pods, o)
		}
		x.see(pods(), o)
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
func (x *proof) everywhere(ctx context.Context, r resource, query url.Values, see func(object)) {
	err := x.sweep(ctx, r.path("", ""), asJSON, query, see)
	if !errors.Is(err, steps.ErrDenied) {
		if err != nil {
			x.gaps = append(x.gaps, fmt.Sprintf("%s cannot be listed: %v", r, err))
		}
		return
	}
	x.narrow = err.Error()
	for _, ns := range x.homes {
		if err := x.sweep(ctx, r.path(ns, ""), asJSON, query, see); err != nil {
			x.gaps = append(x.gaps, fmt.Sprintf("%s of %s cannot be listed: %v", r, ns, err))
		}
	}
}

func (x *proof) see(r resource, o object) {
	o.SetKind(r.kind) // items of a list do not say it
	ties := x.ties(o)
	if x.isNamed(r, o) || len(ties) == 0 {
		return
	}
	k := candidate{resource: r, object: o, ties: ties}
	if r.kind == "Pod" {
		k.sight = podSight(k.String(), o)
	} else {
		k.sight = working(k.String(), r, o)
	}
	x.found = append(x.found, k)
}

func (x *proof) isNamed(r resource, o object) bool {
	return x.p != nil && x.p.kind == r.kind && x.p.namespace == o.GetNamespace() && x.p.name == o.GetName()
}

// definition reads what the cluster says of the API of the object: which release
// brought it, what answers for it, and which accounts roles let write it by name.
// Of the kinds that every cluster has, such roles say nothing.
func (x *proof) definition(ctx context.Context) {
	if x.t.group == "" {
		return
	}
	d, err := x.get(ctx, resource{group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions", kind: "CustomResourceDefinition"}, "", x.t.plural+"."+x.t.group)
	if err != nil {
		return // built in, or a lead that cannot be followed
	}
	x.api, x.release = x.t.group, releaseOf(d)
	if service, there, _ := unstructured.NestedMap(d.Object, "spec", "conversion", "webhook", "clientConfig", "service"); there {
		ns, _ := service["namespace"].(string)
		name, _ := service["name"].(string)
		if s, err := x.get(ctx, services(), ns, name); err == nil {
			selector, _, _ := unstructured.NestedMap(s.Object, "spec", "selector")
			x.served = append(x.served, serving{ns, texts(selector), "the conversion of " + x.t.resource.String()})
		}
	}
	walk := rbac.NewWalk([]string{"update", "patch"},
		rbac.Object{Group: x.t.group, Resource: x.t.plural, Namespace: x.t.namespace, Name: x.t.name},
		rbac.Object{Group: x.t.group, Resource: x.t.plural, Subresource: "finalizers", Namespace: x.t.namespace, Name: x.t.name})
	if err := rolesAndBindings(ctx, x.client, x.t, walk.Role, walk.Binding); err != nil {
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
	r := resource{group: "autoscaling", version: "v2", plural: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", namespaced: true}
	_ = x.sweep(ctx, r.path(x.p.namespace, ""), asJSON, url.Values{"labelSelector": {"scaledobject.keda.sh/name"}}, func(o object) { // a lead
		kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
		if name, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name"); kind == x.p.kind && name == x.p.name {
			x.scaled = "scaledobject/" + steps.Clip(o.GetLabels()["scaledobject.keda.sh/name"], 200)
		}
	})
}
