package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/course"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/patch"
)

// noPods is what the gate that stops a workload writes.
var noPods = patch.Op{Op: patch.Add, Path: "/spec/replicas", Value: json.Number("0")}

// newStopBatch makes the gate that takes all Pods from several workloads, through their subresource scale.
func newStopBatch(env steps.Env) steps.Gater {
	return courseGate{env, "stop", func(env steps.Env, in steps.Params) ([]coursePlan, error) {
		return plansOf(in, func(course.Name) (single, []patch.Op) {
			return alterGate{env: env, verb: "stop", plan: planStop, find: act.JudgeAlter, sub: "/scale"}, []patch.Op{noPods}
		})
	}}
}

func planStop(ctx context.Context, pl *alterPlan) error {
	if pl.t.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, pl.t.Kind) {
		pl.unmet("change what it is made from, or delete it", "%s has no number of Pods that could be set to none.", pl.t)
		return nil
	}
	now, set, err := unstructured.NestedInt64(pl.o.Object, "spec", "replicas")
	if err != nil {
		return fmt.Errorf("%s: its replicas: %w", pl.t, err)
	}
	if !set {
		now = 1 // what the API server takes where none is said
	}
	pl.ops = []patch.Op{noPods}
	pl.p.Effect = fmt.Sprintf("stop %s: all %d Pods go, and nothing serves or writes in their place.", pl.t, now)
	pl.p.Owes = []steps.Debt{{Kind: "resume", Text: fmt.Sprintf("%s is stopped and must get its %d Pods back, or a person must own that it does not", pl.t, now), Due: pauseFor}}
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
