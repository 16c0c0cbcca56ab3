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

// candidate is a workload, or a Pod, that evidence ties to a finalizer.
type candidate struct {
	resource
	object
	ties []string
	sight
}

func (k candidate) String() string { return k.label(k.GetNamespace(), k.GetName()) }

// proof gathers who may keep one finalizer, and judges the workload that was
// named.
type proof struct {
	*client
	bond
	t      target
	o      object
	p      *place // what a person named; nil for nobody
	homes  []string
	narrow string // why only some namespaces were looked at; "" for the whole cluster
	found  []candidate
	pods   []object // that run the program of the workload that was named
	able   map[string]bool
	scaled string // an autoscaler that brings the named workload back by itself
	leases []object
	gaps   []string
}

// proven says whether the keeper of a finalizer that the table does not know
// lives. The named workload counts for its death only where the cluster itself
// ties it to the finalizer, nothing else that is tied to it lives, and no Lease
// of any of them is renewed. That it is not there proves nothing by itself.
func (c *client) proven(ctx context.Context, t target, o object, finalizer, controller string, k *keeper) (sight, error) {
	x := &proof{client: c, t: t, o: o, bond: bond{finalizer: finalizer, writers: telling(setBy(o, finalizer))}}
	var own sight
	if controller != "" {
		p, err := parsePlace(controller, t.namespace)
		if err != nil {
			return sight{}, err
		}
		x.p = &p
		if own, err = c.look(ctx, p); err != nil {
			return sight{}, err
		}
	}
	if err := x.gather(ctx, own); err != nil {
		return sight{}, err
	}
	x.rule(ctx)
	if err := ctx.Err(); err != nil {
		return sight{}, fmt.Errorf("looking for who keeps %q: %w", clip(finalizer, 200), err)
	}
	if x.p == nil {
		k.leads = x.leadsTo()
		return x.nobody(), nil
	}
	k.ties = x.tiesOf(own)
	if len(k.ties) == 0 {
		k.leads = x.leadsTo()
	}
	return x.judge(own), nil
}

// rule takes out what lives in another namespace and may not write the object:
// the same program may be installed for each team. Where the server does not say
// it, it counts.
func (x *proof) rule(ctx context.Context) {
	x.able = map[string]bool{}
	x.found = slices.DeleteFunc(x.found, func(k candidate) bool { return k.alive != dead && !x.mayWrite(ctx, k.object) })
	x.pods = slices.DeleteFunc(x.pods, func(pod object) bool { return !x.mayWrite(ctx, pod) })
}

// mayWrite asks the server whether the account of a workload may write the
// object.
func (x *proof) mayWrite(ctx context.Context, o object) bool {
	pod, _ := templateOf(o)
	account := accountOf(o.GetNamespace(), pod)
	if slices.Contains(x.homes, o.GetNamespace()) {
		return true
	}
	if is, asked := x.able[account]; asked {
		return is
	}
	for _, verb := range []string{"patch", "update"} {
		allowed, _, err := x.review(ctx, "subjectaccessreviews", "SubjectAccessReview", "", map[string]any{
			"user": "system:serviceaccount:" + strings.Replace(account, "/", ":", 1), "groups": rbac.Groups(o.GetNamespace()),
			"resourceAttributes": map[string]any{"verb": verb, "group": x.t.group, "resource": x.t.plural, "namespace": x.t.namespace, "name": x.t.name}})
		if x.able[account] = err != nil || allowed; x.able[account] {
			return true
		}
	}
	return false
}

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
		return fmt.Errorf("looking for who keeps %q: %w", clip(x.finalizer, 200), err)
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
	if err := (&writers{c: x.client, t: x.t}).rolesAndBindings(ctx, walk.Role, walk.Binding); err != nil {
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

// tiesOf is the evidence on the workload that was named.
func (x *proof) tiesOf(own sight) []string {
	if own.seen.Unstructured != nil {
		return x.ties(own.seen)
	}
	return nil
}

// judge weighs the workload that was named, what else is tied to the finalizer,
// and the Leases of all of them.
func (x *proof) judge(own sight) sight {
	seen := []sight{own}
	for _, k := range x.found {
		if k.alive != dead {
			seen = append(seen, sight{alive: k.alive, why: fmt.Sprintf("%s may keep it as well (%s): %s", k, k.ties[0], k.why)})
		}
	}
	seen = append(append(seen, x.siblings(own)...), x.renewed()...)
	switch s := weigh(seen); {
	case s.alive == alive:
		return s
	case own.absent:
		own = x.vanished(own)
		seen[0] = own
	case own.alive == dead && x.scaler(own) != "":
		seen[0] = sight{alive: unknown, why: fmt.Sprintf("%s, but %s decides how many Pods it has, and may want them again: take it away there", own.why, x.scaler(own))}
	case own.alive == dead && len(x.tiesOf(own)) == 0:
		seen[0] = sight{alive: unknown, why: fmt.Sprintf("%s, but nothing in the cluster ties it to %q: not who wrote the finalizer, not what its containers are told, no Lease and no API",
			own.why, clip(x.finalizer, 200))}
	}
	for _, gap := range x.gaps {
		seen = append(seen, sight{alive: unknown, why: gap})
	}
	s := weigh(seen)
	if s.alive == dead && x.narrow != "" {
		s.why += ". Looked at in " + strings.Join(x.homes, " and ") + " alone: " + x.narrow
	}
	return s
}

// scaler names what sets the number of Pods of the named workload: scaled to 0
// by it, a workload waits to be wanted.
func (x *proof) scaler(own sight) string {
	if own.seen.Unstructured == nil {
		return ""
	}
	for _, ref := range own.seen.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller && own.seen.GetKind() != "Pod" {
			return clip(strings.ToLower(ref.Kind)+"/"+ref.Name, 200)
		}
	}
	return x.scaled
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
			x.scaled = "scaledobject/" + clip(o.GetLabels()["scaledobject.keda.sh/name"], 200)
		}
	})
}

// siblings are other workloads of the same program: another install or another
// version of it keeps the same finalizer.
func (x *proof) siblings(own sight) []sight {
	var out []sight
	for _, pod := range x.pods {
		name := pods().label(pod.GetNamespace(), pod.GetName())
		out = append(out, sight{alive: unknown, why: fmt.Sprintf("%s runs the same program, %s", name, clip(imageOf(own.seen), 200))})
	}
	return out
}

func imageOf(o object) string {
	pod, _ := templateOf(o)
	if all := containersOf(pod); len(all) > 0 {
		return repository(all[0])
	}
	return ""
}

// renewed are the Leases by which one that may keep the finalizer shows life:
// of the named workload, of what is tied to it, of who wrote it, and those that
// are called after it.
func (x *proof) renewed() []sight {
	var names []string
	if x.p != nil {
		names = append(names, x.p.name)
	}
	names = append(names, x.writers...)
	for _, k := range x.found {
		names = append(names, k.GetName())
	}
	var out []sight
	for _, o := range x.leases {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		_, bare, _ := strings.Cut(holder, "/") // some write namespace/pod
		of := func(name string) bool {
			return o.GetName() == name || named(holder, name) || named(bare, name)
		}
		if !x.calledAfter(o.GetName()) && !slices.ContainsFunc(names, of) {
			continue
		}
		if s := x.leads(o); s.alive != dead {
			out = append(out, s)
		}
	}
	return out
}

// vanished judges a workload that is not there. It may have another name, be in
// another namespace, or in another cluster: only where the finalizer was written
// under that very name, and the cluster still holds what that program left when
// it ran here, is its absence a death.
func (x *proof) vanished(own sight) sight {
	install := "install it again and let it clean up; that is the way that needs no proof"
	switch {
	case !slices.Contains(x.writers, x.p.name):
		return sight{alive: unknown, why: fmt.Sprintf("%s, and absence is no death: the finalizer was written by %s. Name the workload that keeps it; where it was uninstalled, %s",
			own.why, orNothing(strings.Join(managers(setBy(x.o, x.finalizer)), ", ")), install)}
	case x.narrow != "":
		return sight{alive: unknown, why: fmt.Sprintf("%s, and it cannot be looked for in other namespaces (%s); %s", own.why, x.narrow, install)}
	}
	for _, o := range x.leases {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		if o.GetNamespace() == x.p.namespace && named(holder, x.p.name) {
			return sight{alive: dead, why: fmt.Sprintf("%s, it wrote the finalizer, and %s", own.why, x.leads(o).why)}
		}
	}
	return sight{alive: unknown, why: fmt.Sprintf("%s, and absence is no death: no Lease shows that it ran in this cluster and stopped; it may run elsewhere. Otherwise %s", own.why, install)}
}

// nobody is the verdict where no workload was named. What evidence points to is
// told beside it: it is a lead, and changes with what could be read.
func (x *proof) nobody() sight {
	return sight{alive: unknown, why: fmt.Sprintf("handrail does not know who keeps %q: find its controller and name it", clip(x.finalizer, 200))}
}

// leadsTo names the candidates, and whether they live.
func (x *proof) leadsTo() string {
	var all []string
	for _, k := range x.found {
		if k.kind != "Pod" {
			all = append(all, fmt.Sprintf("%s (%s; it is %s)", k, k.ties[0], k.alive))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return clip(strings.Join(all, ", "), 600)
}

// managers are the names of writers, for a person.
func managers(all []writer) []string {
	var out []string
	for _, w := range all {
		out = append(out, clip(w.manager, 128))
	}
	return out
}
