package alike

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	// mostAround bounds the resources that are asked for the same name.
	mostAround = 12
	// mostStems bounds the objects of other namespaces whose names are compared
	// without what was generated.
	mostStems = 5000
)

// Around looks for what could be taken for an object beside its own list: the same
// name in other namespaces, which are often other tenants, in other API groups that
// have such a kind, and among kinds that do the same work; and the same spec under
// other names. What is near was found already. gaps say where it could not look; the
// error is for a caller that turned away.
func Around(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, near []Lookalike) (like []Lookalike, gaps []string, err error) {
	a := &around{Client: c, t: t, o: o, seen: map[string]bool{string(o.GetUID()): true}}
	for _, l := range near {
		a.seen[l.uid] = true
	}
	if t.Namespaced {
		a.spaces(ctx)
	}
	a.kinds(ctx)
	a.specs(ctx)
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("look-alikes of %s: %w", t, ctx.Err())
	}
	slices.SortStableFunc(a.like, func(x, y Lookalike) int { return strings.Compare(x.Name, y.Name) })
	return a.like, a.gaps, nil
}

type around struct {
	*cluster.Client
	t    cluster.Target
	o    cluster.Object
	seen map[string]bool
	like []Lookalike
	gaps []string
}

func (a *around) take(r cluster.Resource, other cluster.Object, why string) {
	if uid := string(other.GetUID()); a.seen[uid] {
		return
	}
	a.seen[string(other.GetUID())] = true
	name := r.Label(other.GetNamespace(), other.GetName())
	if kind := strings.ToLower(r.Kind); r.Group != a.t.Group && strings.EqualFold(r.Kind, a.t.Kind) {
		name = kind + "." + r.Group + strings.TrimPrefix(name, kind) // the group alone tells them apart
	}
	a.like = append(a.like, Lookalike{Name: name, uid: string(other.GetUID()), Apart: why + "; " + apart(a.o, other)})
}

func (a *around) gap(where string, err error) {
	a.gaps = append(a.gaps, where+": "+steps.Clip(err.Error(), 300))
}

// spaces looks for the name in other namespaces, and where it was generated, for
// others of its stem.
func (a *around) spaces(ctx context.Context) {
	everywhere := a.t.Path("", "")
	err := a.List(ctx, everywhere, cluster.AsMetaList, url.Values{"fieldSelector": {"metadata.name=" + a.t.Name}}, func(other cluster.Object) {
		if other.GetNamespace() != a.t.Namespace && other.GetName() == a.t.Name {
			a.take(a.t.Resource, other, "the same name in another namespace")
		}
	})
	if err != nil {
		a.gap("other namespaces", err)
		return
	}
	stem, all := nameStem(a.t.Name), 0
	if stem == a.t.Name {
		return
	}
	err = listSome(ctx, a.Client, everywhere, mostStems, func(other cluster.Object) {
		if all++; other.GetNamespace() != a.t.Namespace && nameStem(other.GetName()) == stem {
			a.take(a.t.Resource, other, "alike by name in another namespace")
		}
	})
	if err != nil {
		a.gap("generated names in other namespaces", err)
	}
}

// errEnough ends a bounded search.
var errEnough = errors.New("more objects than are looked at")

// listSome lists metadata until so many objects were seen.
func listSome(ctx context.Context, c *cluster.Client, path string, most int, see func(cluster.Object)) error {
	n := 0
	return c.ListItems(ctx, path, cluster.AsMetaList, nil, func(s *cluster.Scanner) (cluster.Object, error) {
		if n++; n > most {
			return cluster.Object{}, errEnough
		}
		return cluster.MetadataItem(s)
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
		if r.Namespaced != a.t.Namespaced {
			continue
		}
		err := a.List(ctx, r.Path(a.t.Namespace, ""), cluster.AsMetaList, url.Values{"fieldSelector": {"metadata.name=" + a.t.Name}}, func(other cluster.Object) {
			if other.GetName() == a.t.Name {
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
func (a *around) meant(ctx context.Context) ([]cluster.Resource, string) {
	if err := a.Discover(ctx); err != nil {
		return nil, err.Error()
	}
	all, trouble := a.Listable(a.t.Namespaced)
	var out []cluster.Resource
	for _, r := range all {
		same := r.Group != a.t.Group && (strings.EqualFold(r.Kind, a.t.Kind) || r.Plural == a.t.Plural)
		if same || r.String() != a.t.Resource.String() && sameWork(r, a.t.Resource) {
			out = append(out, r)
		}
	}
	return out, trouble
}

// sameWork reports whether two resources are taken for one another on a call.
func sameWork(a, b cluster.Resource) bool {
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
func tellAround(t cluster.Target, like []Lookalike, gaps []string, f steps.Facts, obs *steps.Observation) {
	names := []string{}
	for i, l := range like {
		if i < mostDecoys {
			names = append(names, l.Name)
		}
		if i < MostTold {
			obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Not " + l.Name + ": " + l.Apart + "."})
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
