package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/patch"
)

// newScaleGate makes the gate that changes how many Pods a workload has, through
// its subresource scale.
func newScaleGate(env steps.Env) steps.Gater {
	return alterGate{env: env, verb: "scale", plan: planScale, find: act.JudgeAlter, sub: "/scale"}
}

func planScale(ctx context.Context, pl *alterPlan) error {
	if pl.t.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, pl.t.Kind) {
		pl.unmet("change what it is made from", "%s has no number of Pods that could be set.", pl.t)
		return nil
	}
	want := pl.in.Int("replicas")
	if want < 0 {
		pl.unmet("give the number of Pods that it shall have", "It cannot have %d Pods.", want)
		return nil
	}
	now, _, err := unstructured.NestedInt64(pl.o.Object, "spec", "replicas")
	if err != nil {
		return fmt.Errorf("%s: its replicas: %w", pl.t, err)
	}
	pl.ops = []patch.Op{{Op: patch.Add, Path: "/spec/replicas", Value: json.Number(strconv.FormatInt(want, 10))}}
	switch {
	case want == 0:
		pl.p.Effect = fmt.Sprintf("stop %s: all %d Pods go, and nothing serves in their place.", pl.t, now)
	case want < now:
		pl.p.Effect = fmt.Sprintf("take Pods from %s: %d where there are to be %d now.", pl.t, want, now)
	default:
		pl.p.Effect = fmt.Sprintf("let %s have %d Pods instead of %d, where quota and nodes have room.", pl.t, want, now)
	}
	pl.p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("what %s is made from must say %d replicas, or none, or the next rollout takes it back", pl.t, want)}}
	return pl.autoscalers(ctx)
}

// autoscalers names who sets the number by itself. They cannot be paused but by
// being changed, so a person must answer for them.
func (pl *alterPlan) autoscalers(ctx context.Context) error {
	r, err := pl.c.KindOf("autoscaling/v2", "HorizontalPodAutoscaler")
	if errors.Is(err, cluster.ErrNoKind) {
		return nil
	}
	if err == nil {
		err = pl.c.List(ctx, r.Path(pl.t.Namespace, ""), cluster.AsJSON, nil, func(o cluster.Object) {
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "kind")
			name, _, _ := unstructured.NestedString(o.Object, "spec", "scaleTargetRef", "name")
			if kind != pl.t.Kind || name != pl.t.Name {
				return
			}
			low, _, _ := unstructured.NestedInt64(o.Object, "spec", "minReplicas")
			high, _, _ := unstructured.NestedInt64(o.Object, "spec", "maxReplicas")
			pl.p.Owners = append(pl.p.Owners, steps.Owner{Name: "horizontalpodautoscaler/" + pl.t.Namespace + "/" + steps.Clip(o.GetName(), 253), Paused: owner.PausedNo,
				How: fmt.Sprintf("it sets the number by itself, from %d to %d: change its bounds instead", max(low, 1), high)})
		})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		pl.p.Owners = append(pl.p.Owners, steps.Owner{Name: "autoscalers of " + pl.t.Namespace, Paused: owner.PausedUnknown, How: "they could not be read: " + err.Error()})
	}
	return nil
}
