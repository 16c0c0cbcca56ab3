package inject

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"handrail/drills/stage"
)

// killFlux is the verb flux.kill. The controller is a program beside the lab; the Deployment of
// its name and the Pod of that stand for it in the cluster, and the drill says of the Pod what a
// node would.
type killFlux struct {
	Controller string `key:"controller,required" oneof:"kustomize-controller"`
	During     string `key:"during,required" as:"id"` // Kustomization that applied its objects and waits for their health
}

func (k killFlux) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("killing %s in a reconciliation of %s", k.Controller, k.During)
	at := fmt.Sprintf(fluxApps, st.Rec.Namespace.Name) + "/" + k.During
	if err := st.Wait(ctx, "the Kustomization "+k.During+" did not come to wait for the health of what it applied", func() (bool, error) {
		var o struct {
			Status struct {
				Conditions []struct{ Type, Status, Message string }
			}
		}
		err := st.World.Request(ctx, http.MethodGet, at, "", nil, &o)
		return slices.ContainsFunc(o.Status.Conditions, func(c struct{ Type, Status, Message string }) bool {
			return c.Type == "Reconciling" && c.Status == "True" && strings.Contains(strings.ToLower(c.Message), "health check")
		}), err
	}); err != nil {
		return err
	}
	if err := st.EndPart(ctx, k.Controller); err != nil {
		return err
	}
	pod, err := newestPod(ctx, st, k.Controller)
	if err != nil {
		return err
	}
	if err := st.Robot.Patch(ctx, pod.path(st)+"/status", map[string]any{"status": crashed(st.Now(), pod.Spec.Containers[0])}); err != nil {
		return err
	}
	_, err = rollout(ctx, st, k.Controller, "see that its Pod is not ready", func(d deployment) bool { return d.Status.ReadyReplicas == 0 })
	return err
}

// fluxPod is what is read of a Pod.
type fluxPod struct {
	Metadata struct {
		Name, ResourceVersion string
		CreationTimestamp     time.Time
		DeletionTimestamp     *time.Time
	}
	Spec struct {
		Containers []podContainer
	}
	Status struct {
		Conditions []struct{ Type, Status string }
	}
}

type podContainer struct{ Name, Image string }

func (p fluxPod) path(st *stage.Stage) string {
	return "/api/v1/namespaces/" + st.Rec.Namespace.Name + "/pods/" + p.Metadata.Name
}

// newestPod is the Pod that a Deployment made last.
func newestPod(ctx context.Context, st *stage.Stage, name string) (fluxPod, error) {
	var list struct{ Items []fluxPod }
	query := "?labelSelector=" + url.QueryEscape("app="+name)
	err := st.Robot.Get(ctx, "/api/v1/namespaces/"+st.Rec.Namespace.Name+"/pods"+query, &list)
	live := slices.DeleteFunc(list.Items, func(p fluxPod) bool { return p.Metadata.DeletionTimestamp != nil })
	if err == nil && len(live) == 0 {
		err = fmt.Errorf("deployment %s has no Pod with the label app=%s", name, name)
	}
	if err != nil {
		return fluxPod{}, err
	}
	// Of two of one second, the one that was never touched is the newer one.
	return slices.MaxFunc(live, func(a, b fluxPod) int {
		return cmp.Or(a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp), cmp.Compare(len(b.Status.Conditions), len(a.Status.Conditions)))
	}), nil
}

// crashed is the status that a node would write of a Pod whose container had no memory left.
func crashed(now time.Time, c podContainer) map[string]any {
	at := now.UTC().Format(time.RFC3339)
	status := running(now)
	for _, condition := range status["conditions"].([]map[string]any)[2:] {
		condition["status"], condition["reason"] = "False", "ContainersNotReady"
	}
	killed := map[string]any{"exitCode": 137, "reason": "OOMKilled", "startedAt": at, "finishedAt": at}
	status["containerStatuses"] = []map[string]any{{"name": c.Name, "image": c.Image, "imageID": "", "ready": false, "started": false, "restartCount": 6,
		"state":     map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff", "message": "back-off 2m40s restarting failed container=" + c.Name}},
		"lastState": map[string]any{"terminated": killed}}}
	return status
}

// startFlux is the verb flux.start: what a node does with the new Pod of the Deployment.
type startFlux struct {
	Controller string `key:"controller,required" oneof:"kustomize-controller"`
}

func (s startFlux) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting %s", s.Controller)
	p, err := st.Part(s.Controller)
	if err != nil {
		return err
	}
	var pod fluxPod
	if err := st.Wait(ctx, "deployment "+s.Controller+" got no new pod", func() (bool, error) {
		pod, err = newestPod(ctx, st, s.Controller)
		return err == nil && len(pod.Status.Conditions) < 4, err // a node says at least four of a Pod that it has
	}); err != nil {
		return err
	}
	if err := st.AttendPart(ctx, p.Process); err != nil {
		return err
	}
	if err := st.Robot.Patch(ctx, pod.path(st)+"/status", map[string]any{"status": running(st.Now())}); err != nil {
		return err
	}
	_, err = rollout(ctx, st, s.Controller, "see its pod ready", func(d deployment) bool { return d.Status.ReadyReplicas == 1 })
	return err
}
