package kube

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
)

// mostParents bounds the walk up: a chain of owners is three or four long, and
// a wrong one may be a ring.
const mostParents = 12

// byParents walks the owner references of o up to the top. An owner that is not
// there, or has another UID, is none: the object is then about to be collected.
func byParents(ctx context.Context, c *client, t target, o object, w *ownership) error {
	seen := map[string]bool{string(o.GetUID()): true}
	type child struct {
		target
		object
	}
	for queue := []child{{t, o}}; len(queue) > 0; queue = queue[1:] {
		refs := queue[0].GetOwnerReferences()
		left := len(refs)
		for _, ref := range refs {
			if len(seen) > mostParents {
				w.gaps = append(w.gaps, fmt.Sprintf("the owners of %s go on beyond %d", t, mostParents))
				return nil
			}
			pt, po, err := parentOf(ctx, c, queue[0].target, ref)
			switch {
			case errors.Is(err, context.Canceled):
				return err
			case errors.Is(err, errAbsent), errors.Is(err, errNoKind):
				left--
				w.find(steps.Warning, "%s names %s as its owner, which is not there: %v.", queue[0].target, refText(ref), err)
				continue
			case err != nil:
				w.doubt(pt.String(), err.Error(), "somebody who may read it can say whether it is paused")
				continue
			}
			if seen[string(po.GetUID())] {
				continue
			}
			seen[string(po.GetUID())] = true
			paused, how := parentPaused(c, pt, po)
			w.add(pt.String(), paused, how)
			if by := trackedBy(po); by != "" {
				w.find(steps.Info, "%s is itself tracked (%q), which may undo a pause of it.", pt, steps.Clip(by, 300))
			}
			queue = append(queue, child{pt, po})
		}
		if len(refs) > 0 && left == 0 {
			w.find(steps.Warning, "No owner that %s names is left: the garbage collector deletes it by itself.", queue[0].target)
		}
	}
	return nil
}

func refText(ref metav1.OwnerReference) string {
	return fmt.Sprintf("%s %q with UID %s", steps.Clip(ref.Kind, 100), steps.Clip(ref.Name, 300), steps.Clip(string(ref.UID), 60))
}

// parentOf reads the owner that a reference names, and only that one: a name that
// was given to another object since is errAbsent.
func parentOf(ctx context.Context, c *client, of target, ref metav1.OwnerReference) (target, object, error) {
	t, o, err := c.lookup(ctx, ref.APIVersion, ref.Kind, of.namespace, ref.Name)
	if t.name == "" {
		t = target{resource: resource{kind: steps.Clip(ref.Kind, 100), namespaced: of.namespaced}, namespace: of.namespace, name: steps.Clip(ref.Name, 300)}
	}
	switch {
	case err != nil:
		return t, o, err
	case o.GetUID() != ref.UID:
		return t, o, fmt.Errorf("%s is another object by UID (%s): %w", t, o.GetUID(), errAbsent)
	}
	return t, o, nil
}

// parentPaused says whether an owner leaves its children alone.
func parentPaused(c *client, t target, o object) (paused, how string) {
	switch t.group + "/" + t.kind {
	case "batch/CronJob", "batch/Job", fluxKustomize + "/Kustomization", fluxHelm + "/HelmRelease":
		suspend, _, err := unstructured.NestedBool(o.Object, "spec", "suspend")
		switch {
		case err != nil:
			return pausedUnknown, "its spec.suspend cannot be read"
		case suspend:
			return pausedYes, "spec.suspend is true"
		}
		return pausedNo, c.kubectl(t.namespace, "patch", t.resource.String(), t.name, "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	case "apps/Deployment":
		if stopped, _, err := unstructured.NestedBool(o.Object, "spec", "paused"); err == nil && stopped {
			return pausedNo, "spec.paused stops rollouts only: lost replicas are still made again; change the Deployment itself"
		}
	}
	return pausedNo, "it cannot be paused: change " + t.String() + " itself"
}
