package stuck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// search looks for the controller of a known finalizer in the whole cluster: its
// namespace and its name are chosen by its installer.
func search(ctx context.Context, c *cluster.Client, row known) (Sight, error) {
	if len(row.stems)+len(row.near) == 0 {
		return Sight{Alive: Unknown, Why: row.keeper + " is not the same workload everywhere and may run outside the cluster: name it"}, nil
	}
	s, err := searchIn(ctx, c, row, "")
	if ctx.Err() != nil {
		return Sight{}, fmt.Errorf("looking for %s: %w", row.keeper, ctx.Err())
	}
	if err != nil {
		// A part that may be read can prove life, not death.
		for _, home := range row.homes {
			if at, herr := searchIn(ctx, c, row, home); herr == nil && at.Alive == Alive {
				return at, nil
			}
		}
		return Sight{Alive: Unknown, Why: "not every place of " + row.keeper + " can be looked at: " + err.Error()}, nil
	}
	if s.Alive == Dead && row.outside {
		return Sight{Alive: Unknown, Why: s.Why + ", but it may run outside this cluster", absent: true}, nil
	}
	return s, nil
}

func searchIn(ctx context.Context, c *cluster.Client, row known, namespace string) (Sight, error) {
	var seen []Sight
	quiet := "" // a Lease of it that is renewed no more: it ran here, and stopped
	for _, r := range cluster.Workloads() {
		err := c.List(ctx, r.Path(namespace, ""), cluster.AsJSON, nil, func(o cluster.Object) {
			if !row.touches(o) {
				return
			}
			o.SetKind(r.Kind) // items of a list do not say it
			s := ready(r.Label(o.GetNamespace(), o.GetName()), o)
			if s.Alive == Alive && !row.is(o) {
				s = Sight{Alive: Unknown, Why: s.Why + " and belongs to it, but may be another part of it"}
			}
			seen = append(seen, s)
		})
		if err != nil {
			return Sight{}, err
		}
	}
	if s := weigh(seen); s.Alive == Alive {
		return s, nil
	}
	err := c.List(ctx, cluster.Leases().Path(namespace, ""), cluster.AsJSON, nil, func(o cluster.Object) {
		holder, _, _ := unstructured.NestedString(o.Object, "spec", "holderIdentity")
		switch s := LeadsBy(c, o); {
		case !row.contains(o.GetName()) && !row.contains(holder):
		case s.Alive != Dead:
			seen = append(seen, Sight{Alive: Unknown, Why: s.Why})
		case holder != "":
			quiet = s.Why
		}
	})
	if err != nil {
		return Sight{}, err
	}
	err = c.List(ctx, cluster.Pods().Path(namespace, ""), cluster.AsMetaList, nil, func(o cluster.Object) {
		if row.touches(o) {
			seen = append(seen, Sight{Alive: Unknown, Why: cluster.Pods().Label(o.GetNamespace(), o.GetName()) + " is still there"})
		}
	})
	switch {
	case err != nil:
		return Sight{}, err
	case len(seen) == 0 && quiet != "":
		return Sight{Alive: Dead, Why: "no workload or pod of " + row.keeper + " is in the cluster, and " + quiet}, nil
	case len(seen) == 0:
		return Sight{Alive: Unknown, Why: "no workload, pod or Lease of " + row.keeper + " is in the cluster, and absence is no death: it may run under another name; where it was uninstalled, install it again and let it clean up", absent: true}, nil
	}
	return weigh(seen), nil
}

// is reports whether a workload is the keeper itself.
func (k known) is(o cluster.Object) bool {
	labels := o.GetLabels()
	for _, stem := range k.stems {
		if o.GetName() == stem || strings.HasSuffix(o.GetName(), "-"+stem) || labels[owner.LabelApp] == stem || labels["app"] == stem {
			return true
		}
	}
	return false
}

// touches reports whether an object may be the keeper, by its name, its labels
// or its images. It is wide: what it passes over is said not to be there.
func (k known) touches(o cluster.Object) bool {
	if k.contains(o.GetName()) {
		return true
	}
	for _, v := range o.GetLabels() {
		if k.contains(v) {
			return true
		}
	}
	containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	for _, item := range containers {
		m, _ := item.(map[string]any)
		if image, _ := m["image"].(string); k.contains(image) {
			return true
		}
	}
	return false
}

func (k known) contains(s string) bool {
	s = strings.ToLower(s)
	in := func(stem string) bool { return strings.Contains(s, stem) }
	return slices.ContainsFunc(k.stems, in) || slices.ContainsFunc(k.near, in)
}
