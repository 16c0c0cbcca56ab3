package inject

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"handrail/drills/stage"
)

// deployment is what is read of one.
type deployment struct {
	Metadata struct {
		Generation  int64
		Annotations map[string]string
	}
	Spec struct {
		Selector struct{ MatchLabels map[string]string }
	}
	Status struct {
		ObservedGeneration int64
		ReadyReplicas      int
	}
}

func deploymentPath(st *stage.Stage, name string) string {
	return objectKind{"apps/v1", "Deployment", "deployments"}.path(st.Rec.Namespace.Name, name)
}

// rollout waits until a Deployment is as wanted, and returns it.
func rollout(ctx context.Context, st *stage.Stage, name, what string, wanted func(deployment) bool) (d deployment, err error) {
	err = st.Wait(ctx, fmt.Sprintf("deployment %s did not %s", name, what), func() (bool, error) {
		d = deployment{}
		err := st.Robot.Get(ctx, deploymentPath(st, name), &d)
		return err == nil && wanted(d), err
	})
	return d, err
}

// ready is the verb kube.ready. The lab has no node, so a Pod is as alive as its
// status says; what the controllers conclude from it is their own work.
type ready struct {
	Deployment string `key:"deployment,required" as:"id"`
}

func (r ready) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting deployment %s", r.Deployment)
	if err := st.Robot.Patch(ctx, deploymentPath(st, r.Deployment), map[string]any{"spec": map[string]any{"replicas": 1}}); err != nil {
		return err
	}
	d, err := rollout(ctx, st, r.Deployment, "take its one replica up", func(d deployment) bool { return d.Status.ObservedGeneration >= d.Metadata.Generation })
	if err != nil {
		return err
	}
	var selector []string
	for key, value := range d.Spec.Selector.MatchLabels {
		selector = append(selector, key+"="+value)
	}
	slices.Sort(selector)
	pods := "/api/v1/namespaces/" + st.Rec.Namespace.Name + "/pods"
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := st.Wait(ctx, "deployment "+r.Deployment+" got no pod", func() (bool, error) {
		err := st.Robot.Get(ctx, pods+"?labelSelector="+url.QueryEscape(strings.Join(selector, ",")), &list)
		return len(list.Items) > 0, err
	}); err != nil {
		return err
	}
	if err := st.Robot.Patch(ctx, pods+"/"+list.Items[0].Metadata.Name+"/status", map[string]any{"status": running(st.Now())}); err != nil {
		return err
	}
	_, err = rollout(ctx, st, r.Deployment, "see its pod ready", func(d deployment) bool { return d.Status.ReadyReplicas == 1 })
	return err
}

// running is the status that a node would write of a Pod that is up.
func running(now time.Time) map[string]any {
	at := now.UTC().Format(time.RFC3339)
	var conditions []map[string]any
	for _, typ := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		conditions = append(conditions, map[string]any{"type": typ, "status": "True", "lastTransitionTime": at})
	}
	return map[string]any{"phase": "Running", "startTime": at, "conditions": conditions}
}
