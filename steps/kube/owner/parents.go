package owner

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
)

// MostParents bounds the walk up: a chain of owners is three or four long, and
// a wrong one may be a ring.
const MostParents = 12

// byParents walks the owner references of o up to the top. An owner that is not
// there, or has another UID, is none: the object is then about to be collected.
func byParents(ctx context.Context, c *cluster.Client, t cluster.Target, o cluster.Object, w *Ownership) error {
	seen := map[string]bool{string(o.GetUID()): true}
	type child struct {
		cluster.Target
		cluster.Object
	}
	for queue := []child{{t, o}}; len(queue) > 0; queue = queue[1:] {
		refs := queue[0].GetOwnerReferences()
		left := len(refs)
		for _, ref := range refs {
			if len(seen) > MostParents {
				w.Gaps = append(w.Gaps, fmt.Sprintf("the owners of %s go on beyond %d", t, MostParents))
				return nil
			}
			pt, po, err := Parent(ctx, c, queue[0].Target, ref)
			switch {
			case errors.Is(err, context.Canceled):
				return err
			case errors.Is(err, cluster.ErrAbsent), errors.Is(err, cluster.ErrNoKind):
				left--
				w.find(steps.Warning, "%s names %s as its owner, which is not there: %v.", queue[0].Target, refText(ref), err)
				continue
			case err != nil:
				w.doubt(pt.String(), err.Error(), "someone who may read it can say whether it is paused")
				continue
			}
			if seen[string(po.GetUID())] {
				continue
			}
			seen[string(po.GetUID())] = true
			paused, how := parentPaused(c, pt, po)
			w.add(pt.String(), paused, how)
			if by := TrackedBy(po); by != "" {
				w.find(steps.Info, "%s is itself tracked (%q), which may undo a pause of it.", pt, steps.Clip(by, 300))
			}
			queue = append(queue, child{pt, po})
		}
		if len(refs) > 0 && left == 0 {
			w.find(steps.Warning, "No owner that %s names is left: the garbage collector deletes it by itself.", queue[0].Target)
		}
	}
	return nil
}

func refText(ref metav1.OwnerReference) string {
	return fmt.Sprintf("%s %q with UID %s", steps.Clip(ref.Kind, 100), steps.Clip(ref.Name, 300), steps.Clip(string(ref.UID), 60))
}

// Parent reads the owner that a reference names, and only that one: a name that
// was given to another object since is cluster.ErrAbsent.
func Parent(ctx context.Context, c *cluster.Client, of cluster.Target, ref metav1.OwnerReference) (cluster.Target, cluster.Object, error) {
	t, o, err := c.Lookup(ctx, ref.APIVersion, ref.Kind, of.Namespace, ref.Name)
	if t.Name == "" {
		t = cluster.Target{Resource: cluster.Resource{Kind: steps.Clip(ref.Kind, 100), Namespaced: of.Namespaced}, Namespace: of.Namespace, Name: steps.Clip(ref.Name, 300)}
	}
	switch {
	case err != nil:
		return t, o, err
	case o.GetUID() != ref.UID:
		return t, o, fmt.Errorf("%s is another object by UID (%s): %w", t, o.GetUID(), cluster.ErrAbsent)
	}
	return t, o, nil
}

// parentPaused says whether an owner leaves its children alone.
func parentPaused(c *cluster.Client, t cluster.Target, o cluster.Object) (paused, how string) {
	switch t.Group + "/" + t.Kind {
	case "batch/CronJob", "batch/Job", FluxKustomize + "/Kustomization", FluxHelm + "/HelmRelease":
		suspend, _, err := unstructured.NestedBool(o.Object, "spec", "suspend")
		switch {
		case err != nil:
			return PausedUnknown, "its spec.suspend cannot be read"
		case suspend:
			return PausedYes, "spec.suspend is true"
		}
		return PausedNo, c.Kubectl(t.Namespace, "patch", t.Resource.String(), t.Name, "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	case "apps/Deployment":
		if stopped, _, err := unstructured.NestedBool(o.Object, "spec", "paused"); err == nil && stopped {
			return PausedNo, "spec.paused stops rollouts only: lost replicas are still made again; change the Deployment itself"
		}
	}
	return PausedNo, "it cannot be paused: change " + t.String() + " itself"
}
