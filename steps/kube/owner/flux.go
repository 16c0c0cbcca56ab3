package owner

import (
	"cmp"
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// byFlux adds the Kustomization and the HelmRelease that applied o. As with Argo
// CD, one that is not here may live in another cluster.
func byFlux(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, w *Ownership) error {
	for _, of := range []struct{ group, version, kind, word string }{
		{FluxKustomize, "v1", "Kustomization", "kustomization"},
		{FluxHelm, "v2", "HelmRelease", "helmrelease"},
	} {
		labels := o.GetLabels()
		name, ns := labels[of.group+"/name"], cmp.Or(labels[of.group+"/namespace"], o.GetNamespace())
		if name == "" {
			continue
		}
		called := of.word + " " + steps.Clip(ns, 63) + "/" + steps.Clip(name, 253)
		ask := "ask the team that runs Flux whether it is suspended"
		ft, applied, err := c.Lookup(ctx, of.group+"/"+of.version, of.kind, ns, name)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case errors.Is(err, cluster.ErrAbsent), errors.Is(err, cluster.ErrNoKind):
			w.doubt(called, "it is not in this cluster; Flux may run in another one", ask)
			continue
		case err != nil:
			w.doubt(called, err.Error(), ask)
			continue
		}
		if listed, known := inInventory(applied, t); known && !listed {
			w.find(steps.Info, "%s does not list %s in its inventory: the labels were copied.", called, t)
			continue
		}
		if o.GetAnnotations()[of.group+"/reconcile"] == "disabled" {
			w.add(called, PausedYes, "the object has the annotation "+of.group+"/reconcile: disabled")
			continue
		}
		suspend, _, err := unstructured.NestedBool(applied.Object, "spec", "suspend")
		switch {
		case err != nil:
			w.doubt(called, "its spec.suspend cannot be read", ask)
		case suspend:
			w.add(called, PausedYes, "spec.suspend is true")
		default:
			w.add(called, PausedNo, c.Kubectl(ft.Namespace, "patch", ft.Resource.String(), ft.Name, "--type=merge", "-p", `{"spec":{"suspend":true}}`))
		}
		if parent := applied.GetLabels()[FluxKustomize+"/name"]; parent != "" && of.kind+parent != "Kustomization"+name {
			w.find(steps.Info, "%s is itself applied by kustomization %s, which would undo a suspension by hand.", called, steps.Clip(parent, 253))
		}
	}
	return nil
}

// inInventory looks t up in what a Flux object applied; known is false where it
// keeps no inventory yet.
func inInventory(applied cluster.Object, t cluster.Target) (listed, known bool) {
	entries, there, err := unstructured.NestedSlice(applied.Object, "status", "inventory", "entries")
	if err != nil || !there {
		return false, false
	}
	want := inventoryID(t)
	for _, e := range entries {
		if m, _ := e.(map[string]any); m["id"] == want {
			return true, true
		}
	}
	return false, true
}
