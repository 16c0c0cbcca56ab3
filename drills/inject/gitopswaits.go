package inject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// awaitEnd waits until the operation of an application has ended in a phase.
func awaitEnd(ctx context.Context, st *stage.Stage, name, end string) error {
	return awaitApps(ctx, st, "end as "+end, func(a argoApp) bool { return ended(a, name, end) })
}

// syncArgo is the verb argocd.sync.
type syncArgo struct {
	Name  string `key:"name,required" as:"id"`
	Prune bool   `key:"prune"`
	Ends  string `key:"ends,required" oneof:"Succeeded Failed Running"`
}

func (s syncArgo) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("syncing %s", s.Name)
	at := fmt.Sprintf(applicationsPath, st.Rec.Namespace.Name) + "/" + s.Name
	op := map[string]any{"operation": map[string]any{"initiatedBy": map[string]any{"username": "release"}, "sync": map[string]any{"revision": "main", "prune": s.Prune}}}
	if err := st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", op, nil); err != nil {
		return err
	}
	if err := st.Wait(ctx, "Argo CD did not begin the sync", func() (bool, error) {
		var a struct{ Operation map[string]any }
		err := st.World.Request(ctx, http.MethodGet, at, "", nil, &a)
		return err == nil && (a.Operation == nil || s.Ends == "Running"), err
	}); err != nil {
		return err
	}
	return awaitEnd(ctx, st, s.Name, s.Ends)
}

// define is the verb kube.define. The group is the drill's own, so that drills side by side do
// not see each other's kinds.
type define struct {
	Kind   string `key:"kind,required"`
	Plural string `key:"plural,required" as:"id"`
}

func (d define) apply(ctx context.Context, st *stage.Stage) error {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	ns := st.Rec.Namespace.Name
	group := ns + ".example"
	st.Say("a kind %s of %s", d.Kind, group)
	if err := st.World.Define(ctx, ns, group, d.Kind, d.Plural); err != nil {
		return err
	}
	// Its objects can be listed later than the definition says that they can be.
	if err := st.Wait(ctx, "the API server does not serve "+d.Plural+"."+group, func() (bool, error) {
		// Not found at first, then 429 while its storage begins.
		return st.World.Request(ctx, http.MethodGet, "/apis/"+group+"/v1/namespaces/"+ns+"/"+d.Plural, "", nil, nil) == nil, nil
	}); err != nil {
		return err
	}
	return st.Admit(ctx, stage.NameOperator, []lab.Rule{{Group: group, Resources: []string{d.Plural}, Verbs: []string{"get", "list", "patch"}}}, nil)
}

// failJob is the verb kube.fail. No node runs in the lab: the Pod of the Job is a real one, and
// the drill says of it what a node would. That the Job failed is the word of its controller, and
// that the hook did, that of Argo CD.
type failJob struct {
	Job  string `key:"job,required" as:"id"`
	Says string `key:"says,required"`
}

func (f failJob) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the Pod of Job %s ends: %s", f.Job, f.Says)
	pods := "/api/v1/namespaces/" + st.Rec.Namespace.Name + "/pods"
	var list struct{ Items []fluxPod }
	if err := st.Wait(ctx, "Job "+f.Job+" got no Pod", func() (bool, error) {
		err := st.Robot.Get(ctx, pods+"?labelSelector=job-name%3D"+f.Job, &list)
		return len(list.Items) > 0, err
	}); err != nil {
		return err
	}
	pod := list.Items[0]
	if err := st.Robot.Patch(ctx, pods+"/"+pod.Metadata.Name+"/status", map[string]any{"status": exited(st.Now(), pod.Spec.Containers[0], f.Says)}); err != nil {
		return err
	}
	return awaitApps(ctx, st, "see that the hook failed", func(a argoApp) bool { return a.Status.OperationState.Phase == "Failed" })
}

// exited is the status that a node would write of a Pod whose container failed.
func exited(now time.Time, c podContainer, says string) map[string]any {
	at := now.UTC().Format(time.RFC3339)
	ended := map[string]any{"exitCode": 1, "reason": "Error", "message": says, "startedAt": at, "finishedAt": at}
	return map[string]any{"phase": "Failed", "startTime": at, "containerStatuses": []map[string]any{
		{"name": c.Name, "image": c.Image, "imageID": "", "ready": false, "started": false, "restartCount": 0, "state": map[string]any{"terminated": ended}}}}
}
