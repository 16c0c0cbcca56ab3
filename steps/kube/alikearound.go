package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"handrail/steps"
)

const (
	// mostAround bounds the resources that are asked for the same name.
	mostAround = 12
	// mostStems bounds the objects of other namespaces whose names are compared
	// without what was generated.
	mostStems = 5000
)

// lookAround looks for what could be taken for an object beside its own list: the same
// name in other namespaces, which are often other tenants, in other API groups that
// have such a kind, and among kinds that do the same work. gaps say where it could
// not look; the error is for a caller that turned away.
func lookAround(ctx context.Context, c *client, t target, o object) (like []lookalike, gaps []string, err error) {
	a := &around{client: c, t: t, o: o, seen: map[string]bool{string(o.GetUID()): true}}
	if t.namespaced {
		a.spaces(ctx)
	}
	a.kinds(ctx)
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("look-alikes of %s: %w", t, ctx.Err())
	}
	slices.SortStableFunc(a.like, func(x, y lookalike) int { return strings.Compare(x.name, y.name) })
	return a.like, a.gaps, nil
}

type around struct {
	*client
	t    target
	o    object
	seen map[string]bool
	like []lookalike
	gaps []string
}

func (a *around) take(r resource, other object, why string) {
	if uid := string(other.GetUID()); a.seen[uid] {
		return
	}
	a.seen[string(other.GetUID())] = true
	name := r.label(other.GetNamespace(), other.GetName())
	if kind := strings.ToLower(r.kind); r.group != a.t.group && strings.EqualFold(r.kind, a.t.kind) {
		name = kind + "." + r.group + strings.TrimPrefix(name, kind) // the group alone tells them apart
	}
	a.like = append(a.like, lookalike{name: name, uid: string(other.GetUID()), apart: why + "; " + apart(a.o, other)})
}

func (a *around) gap(where string, err error) {
	a.gaps = append(a.gaps, where+": "+steps.Clip(err.Error(), 300))
}

// spaces looks for the name in other namespaces, and where it was generated, for
// others of its stem.
func (a *around) spaces(ctx context.Context) {
	everywhere := a.t.path("", "")
	err := a.sweep(ctx, everywhere, asMetaList, url.Values{"fieldSelector": {"metadata.name=" + a.t.name}}, func(other object) {
		if other.GetNamespace() != a.t.namespace && other.GetName() == a.t.name {
			a.take(a.t.resource, other, "the same name in another namespace")
		}
	})
	if err != nil {
		a.gap("other namespaces", err)
		return
	}
	stem, all := nameStem(a.t.name), 0
	if stem == a.t.name {
		return
	}
	err = listSome(ctx, a.client, everywhere, mostStems, func(other object) {
		if all++; other.GetNamespace() != a.t.namespace && nameStem(other.GetName()) == stem {
			a.take(a.t.resource, other, "alike by name in another namespace")
		}
	})
	if err != nil {
		a.gap("generated names in other namespaces", err)
	}
}

// errEnough ends a bounded search.
var errEnough = errors.New("more objects than are looked at")

// listSome lists metadata until so many objects were seen.
func listSome(ctx context.Context, c *client, path string, most int, see func(object)) error {
	n := 0
	return c.sweepItems(ctx, path, asMetaList, nil, func(s *scan) (object, error) {
		if n++; n > most {
			return object{}, errEnough
		}
		return metadataItem(s)
	}, see)
}

// kinds looks for the name among resources that could be meant instead.
func (a *around) kinds(ctx context.Context) {
	others, trouble := a.meant(ctx)
	if trouble != "" {
		a.gaps = append(a.gaps, "other API groups: "+steps.Clip(trouble, 300))
	}
	if len(others) > mostAround {
		a.gaps = append(a.gaps, fmt.Sprintf("%d more resources of such a name", len(others)-mostAround))
		others = others[:mostAround]
	}
	for _, r := range others {
		if r.namespaced != a.t.namespaced {
			continue
		}
		err := a.sweep(ctx, r.path(a.t.namespace, ""), asMetaList, url.Values{"fieldSelector": {"metadata.name=" + a.t.name}}, func(other object) {
			if other.GetName() == a.t.name {
				a.take(r, other, "the same name, another kind of object")
			}
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			a.gap(r.String(), err)
		}
	}
}

// meant are the resources for which a name could be meant instead: those of other
// groups that are called the same, and those that do the same work.
func (a *around) meant(ctx context.Context) ([]resource, string) {
	if err := a.discover(ctx); err != nil {
		return nil, err.Error()
	}
	all, trouble := a.listable(a.t.namespaced)
	var out []resource
	for _, r := range all {
		same := r.group != a.t.group && (strings.EqualFold(r.kind, a.t.kind) || r.plural == a.t.plural)
		if same || r.String() != a.t.resource.String() && sameWork(r, a.t.resource) {
			out = append(out, r)
		}
	}
	return out, trouble
}

// sameWork reports whether two resources are taken for one another on a call.
func sameWork(a, b resource) bool {
	for _, family := range [][]string{
		{"deployments.apps", "statefulsets.apps", "daemonsets.apps", "rollouts.argoproj.io"},
		{"jobs.batch", "cronjobs.batch"},
		{"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io"},
		{"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io"},
		{"validatingwebhookconfigurations.admissionregistration.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io"},
	} {
		if slices.Contains(family, a.String()) && slices.Contains(family, b.String()) {
			return true
		}
	}
	return false
}

// tellAround puts what stands elsewhere, and where nothing could be seen, into
// what a probe says.
func tellAround(t target, like []lookalike, gaps []string, f steps.Facts, obs *steps.Observation) {
	names := []string{}
	for i, l := range like {
		if i < mostDecoys {
			names = append(names, l.name)
		}
		if i < mostTold {
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Not " + l.name + ": " + l.apart + "."})
		}
	}
	for _, gap := range gaps {
		obs.Gaps = append(obs.Gaps, "look-alikes in "+gap)
	}
	if len(like) > 0 {
		obs.Summary += fmt.Sprintf(" Beside its list there are %d.", len(like))
	}
	switch {
	case len(like) > mostDecoys:
		f.Unknown(fmt.Sprintf("%d objects elsewhere could be taken for %s, more than the %d that a fact names", len(like), t, mostDecoys), "elsewhere")
	case len(gaps) > 0 && len(names) == 0:
		f.Unknown("not looked at: "+steps.Clip(strings.Join(gaps, "; "), 600), "elsewhere")
	default:
		f.Set("elsewhere", steps.StringsOf(names))
	}
}
