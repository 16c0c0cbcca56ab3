package stuck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/blame"
	"handrail/steps/kube/rbac"
	"handrail/steps/kube/report"
)

// proven says whether the keeper of a finalizer that the table does not know
// lives. The named workload counts for its death only where the cluster itself
// ties it to the finalizer, nothing else that is tied to it lives, and no Lease
// of any of them is renewed. That it is not there proves nothing by itself.
func proven(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, finalizer, controller string, k *Keeper) (Sight, error) {
	x := &proof{Client: c, t: t, o: o, keeperEvidence: keeperEvidence{finalizer: finalizer, writers: telling(blame.SetBy(o, finalizer))}}
	var own Sight
	if controller != "" {
		p, err := ParsePlace(controller, t.Namespace)
		if err != nil {
			return Sight{}, err
		}
		x.p = &p
		if own, err = Look(ctx, c, p); err != nil {
			return Sight{}, err
		}
	}
	if err := x.gather(ctx, own); err != nil {
		return Sight{}, err
	}
	x.rule(ctx)
	if err := ctx.Err(); err != nil {
		return Sight{}, fmt.Errorf("looking for who keeps %q: %w", steps.Clip(finalizer, 200), err)
	}
	if x.p == nil {
		k.Leads, k.Unseen = x.leadsTo(), x.unseen()
		return x.unnamed(), nil
	}
	k.Ties = x.tiesOf(own)
	if len(k.Ties) == 0 {
		k.Leads = x.leadsTo()
	}
	s := x.judge(own)
	if own.absent && s.Alive == Unknown {
		s.Why += ". " + x.exists()
	}
	return s, nil
}

// unseen reports whether the whole cluster was looked through, and nothing in it is
// tied to the finalizer.
func (x *proof) unseen() bool {
	return x.narrow == "" && len(x.gaps) == 0 && len(x.found) == 0 && len(x.renewed()) == 0
}

// exists says which workloads there are, where the one that was named is not.
func (x *proof) exists() string {
	const most = 8
	var same, beside []string
	for _, name := range x.names {
		switch ns, bare, _ := strings.Cut(name, "/"); {
		case bare == x.p.name:
			same = append(same, ns)
		case ns == x.p.namespace:
			beside = append(beside, bare)
		}
	}
	kind := strings.ToLower(x.p.Kind)
	switch {
	case len(same) > 0:
		return fmt.Sprintf("A %s of that name is in %s", kind, few(same, most))
	case len(beside) > 0:
		return fmt.Sprintf("In %s there is: %s", x.p.namespace, few(beside, most))
	}
	return fmt.Sprintf("There is no %s in %s, or it may not be listed", kind, x.p.namespace)
}

func few(names []string, most int) string {
	slices.Sort(names)
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// rule takes out what lives in another namespace and may not write the object:
// the same program may be installed for each team. Where the server does not say
// it, it counts.
func (x *proof) rule(ctx context.Context) {
	x.able = map[string]bool{}
	x.found = slices.DeleteFunc(x.found, func(k candidate) bool { return k.Alive != Dead && !x.mayWrite(ctx, k.Object) })
	x.pods = slices.DeleteFunc(x.pods, func(pod cluster.Object) bool { return !x.mayWrite(ctx, pod) })
}

// mayWrite asks the server whether the account of a workload may write the
// object.
func (x *proof) mayWrite(ctx context.Context, o cluster.Object) bool {
	pod, _ := templateOf(o)
	account := accountOf(o.GetNamespace(), pod)
	if slices.Contains(x.homes, o.GetNamespace()) {
		return true
	}
	if is, asked := x.able[account]; asked {
		return is
	}
	for _, verb := range []string{"patch", "update"} {
		allowed, _, err := x.Review(ctx, "subjectaccessreviews", "SubjectAccessReview", "", map[string]any{
			"user": "system:serviceaccount:" + strings.Replace(account, "/", ":", 1), "groups": rbac.Groups(o.GetNamespace()),
			"resourceAttributes": map[string]any{"verb": verb, "group": x.t.Group, "resource": x.t.Plural, "namespace": x.t.Namespace, "name": x.t.Name}})
		if x.able[account] = err != nil || allowed; x.able[account] {
			return true
		}
	}
	return false
}

// tiesOf is the evidence on the workload that was named.
func (x *proof) tiesOf(own Sight) []string {
	if own.seen.Unstructured != nil {
		return x.ties(own.seen)
	}
	return nil
}

// judge weighs the workload that was named, what else is tied to the finalizer,
// and the Leases of all of them.
func (x *proof) judge(own Sight) Sight {
	seen := []Sight{own}
	for _, k := range x.found {
		if k.Alive != Dead {
			seen = append(seen, Sight{Alive: k.Alive, Why: fmt.Sprintf("%s may keep it as well (%s): %s", k, k.ties[0], k.Why)})
		}
	}
	seen = append(append(seen, x.siblings(own)...), x.renewed()...)
	switch s := weigh(seen); {
	case s.Alive == Alive:
		return s
	case own.absent:
		own = x.vanished(own)
		seen[0] = own
	case own.Alive == Dead && x.scaler(own) != "":
		seen[0] = Sight{Alive: Unknown, Why: fmt.Sprintf("%s, but %s decides how many Pods it has, and may want them again: take it away there", own.Why, x.scaler(own))}
	case own.Alive == Dead && len(x.tiesOf(own)) == 0:
		seen[0] = Sight{Alive: Unknown, Why: fmt.Sprintf("%s, but nothing in the cluster ties it to %q: not who wrote the finalizer, not what its containers are told, no Lease and no API",
			own.Why, steps.Clip(x.finalizer, 200))}
	}
	for _, gap := range x.gaps {
		seen = append(seen, Sight{Alive: Unknown, Why: gap})
	}
	s := weigh(seen)
	if s.Alive == Dead && x.narrow != "" {
		s.Why += ". Looked at in " + strings.Join(x.homes, " and ") + " alone: " + x.narrow
	}
	return s
}

// scaler names what sets the number of Pods of the named workload: scaled to 0
// by it, a workload waits to be wanted.
func (x *proof) scaler(own Sight) string {
	if own.seen.Unstructured == nil {
		return ""
	}
	for _, ref := range own.seen.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller && own.seen.GetKind() != "Pod" {
			return steps.Clip(strings.ToLower(ref.Kind)+"/"+ref.Name, 200)
		}
	}
	return x.scaled
}

// siblings are other workloads of the same program: another install or another
// version of it keeps the same finalizer.
func (x *proof) siblings(own Sight) []Sight {
	var out []Sight
	for _, pod := range x.pods {
		name := cluster.Pods().Label(pod.GetNamespace(), pod.GetName())
		out = append(out, Sight{Alive: Unknown, Why: fmt.Sprintf("%s runs the same program, %s", name, steps.Clip(imageOf(own.seen), 200))})
	}
	return out
}

func imageOf(o cluster.Object) string {
	pod, _ := templateOf(o)
	if all := containersOf(pod); len(all) > 0 {
		return repository(all[0])
	}
	return ""
}

// renewed are the Leases by which one that may keep the finalizer shows life:
// of the named workload, of what is tied to it, of who wrote it, and those that
// are called after it.
func (x *proof) renewed() []Sight {
	var names []string
	if x.p != nil {
		names = append(names, x.p.name)
	}
	names = append(names, x.writers...)
	for _, k := range x.found {
		names = append(names, k.GetName())
	}
	var out []Sight
	for _, o := range x.leases {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		_, bare, _ := strings.Cut(holder, "/") // some write namespace/pod
		of := func(name string) bool {
			return o.GetName() == name || named(holder, name) || named(bare, name)
		}
		if !x.calledAfter(o.GetName()) && !slices.ContainsFunc(names, of) {
			continue
		}
		if s := LeadsBy(x.Client, o); s.Alive != Dead {
			out = append(out, s)
		}
	}
	return out
}

// vanished judges a workload that is not there. It may have another name, be in
// another namespace, or in another cluster: only where the finalizer was written
// under that very name, and the cluster still holds what that program left when
// it ran here, is its absence a death.
func (x *proof) vanished(own Sight) Sight {
	install := "install it again and let it clean up; that is the way that needs no proof"
	switch {
	case !slices.Contains(x.writers, x.p.name):
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s, and absence is no death: the finalizer was written by %s. Name the workload that keeps it, or none where none of this cluster does: then a person says where it runs; where it was uninstalled, %s",
			own.Why, report.OrNothing(strings.Join(managers(blame.SetBy(x.o, x.finalizer)), ", ")), install)}
	case x.narrow != "":
		return Sight{Alive: Unknown, Why: fmt.Sprintf("%s, and it cannot be looked for in other namespaces (%s); %s", own.Why, x.narrow, install)}
	}
	for _, o := range x.leases {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		if o.GetNamespace() == x.p.namespace && named(holder, x.p.name) {
			return Sight{Alive: Dead, Why: fmt.Sprintf("%s, it wrote the finalizer, and %s", own.Why, LeadsBy(x.Client, o).Why)}
		}
	}
	return Sight{Alive: Unknown, Why: fmt.Sprintf("%s, and absence is no death: no Lease shows that it ran in this cluster and stopped; it may run elsewhere. Otherwise %s", own.Why, install)}
}

// unnamed is the verdict where no workload was named. What evidence points to is
// told beside it: it is a lead, and changes with what could be read.
func (x *proof) unnamed() Sight {
	return Sight{Alive: Unknown, Why: fmt.Sprintf("handrail does not know who keeps %q: find its controller and name it", steps.Clip(x.finalizer, 200))}
}

// leadsTo names the candidates, and whether they live.
func (x *proof) leadsTo() string {
	var all []string
	for _, k := range x.found {
		if k.Kind != "Pod" {
			all = append(all, fmt.Sprintf("%s (%s; it is %s)", k, k.ties[0], k.Alive))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return steps.Clip(strings.Join(all, ", "), 600)
}

// managers are the names of writers, for a person.
func managers(all []blame.Writer) []string {
	var out []string
	for _, w := range all {
		out = append(out, steps.Clip(w.Manager, 128))
	}
	return out
}
