package centre

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/owner"
)

// stuck finds Deployments whose rollout does not go on, or that serve with fewer
// Pods than they may.
func (s *Centre) stuck(ctx context.Context, w *answer) {
	r := cluster.Resource{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true}
	rows := map[string]cluster.Object{}
	s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
		if row, is := s.finalizing(r, o); is {
			w.row(row)
			return
		}
		row, is := stuckRow(o)
		if !is {
			return
		}
		row.Where, row.Owner = r.Label(o.GetNamespace(), o.GetName()), keptBy(o)
		row.Command = s.c.Kubectl(o.GetNamespace(), "describe", r.String(), o.GetName())
		w.row(row)
		rows[row.Where] = o
	})
	jobs := cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true}
	s.every(ctx, w, jobs, cluster.AsJSON, nil, func(o cluster.Object) {
		row, is := waitingJob(o)
		if !is {
			return
		}
		row.Where, row.Owner = jobs.Label(o.GetNamespace(), o.GetName()), keptBy(o)
		row.Command = s.c.Kubectl(o.GetNamespace(), "describe", jobs.String(), o.GetName())
		w.row(row)
		rows[row.Where] = o
	})
	s.explain(ctx, w, rows)
}

// waitsAfter is how long a Job may have no Pod that is ready before it counts as
// hanging: an image is pulled and a node is found in less.
const waitsAfter = 10 * time.Minute

// waitingJob finds a Job that is neither over nor suspended, and has long had no Pod
// that runs. One in deletion is of another question.
func waitingJob(o cluster.Object) (steps.Standing, bool) {
	conditions := conditionsOf(o)
	for _, over := range []string{"Complete", "Failed", "SuccessCriteriaMet", "Suspended"} {
		if conditions[over].status == "True" {
			return steps.Standing{}, false
		}
	}
	began := timeIn(o.Object, "status", "startTime")
	ready, active := numberIn(o, "status", "ready"), numberIn(o, "status", "active")
	if began.IsZero() || ready > 0 || o.GetDeletionTimestamp() != nil || time.Since(began) < waitsAfter {
		return steps.Standing{}, false
	}
	row := steps.Standing{Level: steps.Warning, What: fmt.Sprintf("hangs: none of its %d Pods is ready", active), Since: began}
	if failed := numberIn(o, "status", "failed"); failed > 0 {
		row.What += fmt.Sprintf(", %d failed", failed)
	}
	if c := conditions["FailureTarget"]; c.status == "True" {
		row.Detail = c.String()
	}
	return row, true
}

// saying is what a row says with the message of its condition, where it has one.
func saying(what, message string) string {
	if message == "" {
		return what
	}
	return what + ": " + message
}

func stuckRow(o cluster.Object) (steps.Standing, bool) {
	want, set, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !set {
		want = 1
	}
	have := numberIn(o, "status", "availableReplicas")
	row := steps.Standing{Level: steps.Warning}
	if have == 0 && want > 0 {
		row.Level = steps.Critical
	}
	conditions := conditionsOf(o)
	for _, of := range []struct{ kind, status, what string }{
		{"ReplicaFailure", "True", "cannot make its Pods"},
		{"Progressing", "False", "rollout does not go on"},
		{"Available", "False", "too few Pods"},
	} {
		if c := conditions[of.kind]; c.status == of.status {
			row.What = fmt.Sprintf("%s, %d of %d available", of.what, have, want)
			row.Since, row.Detail = c.since, c.String()
			return row, true
		}
	}
	return row, false
}

// leasePrefix begins the name of the Lease by which the kubernetes backend of
// tofu and terraform locks a state; what follows is <workspace>-<suffix>.
const leasePrefix = "lock-tfstate-"

// locked finds the locks of states that are kept in this cluster. Whose lock it
// is and what may be done is for the workspace to say: here it is not known which
// directory it belongs to.
func (s *Centre) locked(ctx context.Context, w *answer) {
	r := cluster.Resource{Group: "coordination.k8s.io", Version: "v1", Plural: "leases", Kind: "Lease", Namespaced: true}
	s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) {
		holder := textIn(o, "spec", "holderIdentity")
		if !strings.HasPrefix(o.GetName(), leasePrefix) || holder == "" {
			return
		}
		var info struct {
			Operation, Who string
			Created        time.Time
		}
		row := steps.Standing{Level: steps.Warning, What: "state is locked", Where: o.GetNamespace() + "/" + o.GetName(), Command: s.get(r, o)}
		if json.Unmarshal([]byte(o.GetAnnotations()["app.terraform.io/lock-info"]), &info) == nil {
			row.Owner, row.Since = steps.Clip(info.Who, 200), info.Created
			row.What = "locked for " + steps.Clip(cmp.Or(info.Operation, "an unknown operation"), 60)
		} else {
			row.Detail = "The lock does not describe itself."
		}
		w.row(row)
	})
}

// degraded finds applications of Argo CD and objects of Flux that are not well.
func (s *Centre) degraded(ctx context.Context, w *answer) {
	if r, ok := s.kind(ctx, w, "applications.argoproj.io"); ok {
		s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) { s.app(w, r, o, argoTrouble) })
	}
	for _, name := range []string{"kustomizations." + owner.FluxKustomize, "helmreleases." + owner.FluxHelm, "gitrepositories.source.toolkit.fluxcd.io"} {
		if r, ok := s.kind(ctx, w, name); ok {
			s.every(ctx, w, r, cluster.AsJSON, nil, func(o cluster.Object) { s.app(w, r, o, fluxTrouble) })
		}
	}
}

func (s *Centre) app(w *answer, r cluster.Resource, o cluster.Object, trouble func(cluster.Object) (steps.Standing, bool)) {
	row, is := s.finalizing(r, o)
	if !is {
		if row, is = trouble(o); !is {
			return
		}
	}
	row.Where, row.Command = r.Label(o.GetNamespace(), o.GetName()), s.get(r, o)
	row.Owner = cmp.Or(row.Owner, keptBy(o))
	w.row(row)
}

// argoTrouble reads what an Application says of its health and its last sync.
func argoTrouble(o cluster.Object) (steps.Standing, bool) {
	row := steps.Standing{Level: steps.Warning}
	if project := textIn(o, "spec", "project"); project != "" {
		row.Owner = "project " + steps.Clip(project, 100)
	}
	since := timeIn(o.Object, "status", "health", "lastTransitionTime")
	finished := timeIn(o.Object, "status", "operationState", "finishedAt")
	switch health := textIn(o, "status", "health", "status"); health {
	case "Degraded", "Missing":
		row.Level = steps.Critical
		row.What, row.Since = saying("health is "+health, textIn(o, "status", "health", "message")), since
		row.Detail = textIn(o, "status", "health", "message")
		return row, true
	}
	if phase := textIn(o, "status", "operationState", "phase"); phase == "Failed" || phase == "Error" {
		row.What, row.Since = saying("last sync: "+phase, textIn(o, "status", "operationState", "message")), finished
		row.Detail = textIn(o, "status", "operationState", "message")
		return row, true
	}
	conditions := conditionsOf(o)
	for _, kind := range slices.Sorted(maps.Keys(conditions)) {
		if c := conditions[kind]; strings.HasSuffix(kind, "Error") { // they have no status: being there is being true
			row.What, row.Since, row.Detail = saying(kind, c.message), c.since, c.message
			return row, true
		}
	}
	return row, false
}

// fluxTrouble reads the conditions of an object of Flux. One that is suspended
// says what was true when it stopped.
func fluxTrouble(o cluster.Object) (steps.Standing, bool) {
	if paused, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); paused {
		return steps.Standing{}, false
	}
	conditions := conditionsOf(o)
	row := steps.Standing{Level: steps.Warning}
	if c := conditions["Stalled"]; c.status == "True" {
		row.Level, row.What, row.Since, row.Detail = steps.Critical, "stalled: "+c.String(), c.since, c.message
		return row, true
	}
	if c := conditions["Ready"]; c.status == "False" {
		row.What, row.Since, row.Detail = "not ready: "+c.String(), c.since, c.message
		return row, true
	}
	return row, false
}
