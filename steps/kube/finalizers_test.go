package kube

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

func (w *keepersWorld) job(name string, meta fields) fields {
	w.t.Helper()
	if meta == nil {
		meta = fields{}
	}
	meta["name"] = name
	template := podTemplate(name)
	template["spec"].(fields)["restartPolicy"] = "Never"
	return w.create(w.in(batchV1, "jobs", ""), fields{"metadata": meta, "spec": fields{"template": template}})
}

// wantFact compares one fact; "?" and a part of the reason stand for unknown.
func wantFact(t *testing.T, obs steps.Observation, name, want string) {
	t.Helper()
	v := obs.Facts[name]
	if why, unknown := strings.CutPrefix(want, "?"); unknown {
		if v.Known() || !strings.Contains(v.Why(), why) {
			t.Errorf("%s = %v (%s), want unknown for %q", name, v.Text(), v.Why(), why)
		}
		return
	}
	if !v.Known() || v.Text() != want {
		t.Errorf("%s = %v (%s), want %s", name, v.Text(), v.Why(), want)
	}
}

func wantFinding(t *testing.T, obs steps.Observation, part string) {
	t.Helper()
	if !slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, part) }) {
		t.Errorf("findings = %v, want %q among them", obs.Findings, part)
	}
}

func wantGap(t *testing.T, obs steps.Observation, part string) {
	t.Helper()
	if !slices.ContainsFunc(obs.Gaps, func(g string) bool { return strings.Contains(g, part) }) {
		t.Errorf("gaps = %q, want %q among them", obs.Gaps, part)
	}
}

// TestOrphanHook is the case of the runbook: a Job that is to be gone, held by
// the finalizer of a controller that is.
func TestOrphanHook(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.workload("deployments", "hook-cleaner", 0)
	w.job("hook", fields{"finalizers": []string{"example.com/hook-cleanup"}})
	path := w.in(batchV1, "jobs", "hook")
	w.freed(path)
	before := w.probe(w.env, "kube/finalizers", "job", "hook", "controller", "deployment/hook-cleaner")
	wantFact(t, before, "blocker", "none")
	wantFact(t, before, "terminating", "false")
	w.until("the Job's pod", func() bool { return len(w.podsOf("hook")) == 1 })
	w.remove(path, fields{"propagationPolicy": "Background"})

	obs := w.probe(w.env, "kube/finalizers", "job", "hook", "controller", "deployment/hook-cleaner")
	wantFact(t, obs, "exists", "true")
	wantFact(t, obs, "terminating", "true")
	wantFact(t, obs, "count", "1")
	wantFact(t, obs, "only", "example.com/hook-cleanup")
	wantFact(t, obs, "keeper_alive", "dead")
	wantFact(t, obs, "blocker", "finalizer")
	if s := obs.Facts["set_by"].Table()["example.com/hook-cleanup"]; !strings.Contains(s, "hook-cleaner") {
		t.Errorf("set_by = %q", s)
	}
	nobody := w.probe(w.env, "kube/finalizers", "job", "hook")
	wantFact(t, nobody, "keeper_alive", "?does not know who keeps")
	wantGap(t, nobody, "does not know who keeps")
	gone := w.probe(w.env, "kube/finalizers", "job", "no-such")
	wantFact(t, gone, "exists", "false")
	wantFact(t, gone, "keeper_alive", "?not there")
}

// TestChildren lets the real Job controller make a child.
func TestChildren(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.job("parent", nil)
	w.job("stranger", nil)
	w.until("both pods", func() bool { return len(w.podsOf("parent")) == 1 && len(w.podsOf("stranger")) == 1 })
	pod := w.podsOf("parent")[0]
	w.freed(w.in("", "pods", pod))
	obs := w.probe(w.env, "kube/finalizers", "jobs.batch", "parent")
	if got := obs.Facts["children"].Strings(); !slices.Equal(got, []string{"pod/" + pod}) {
		t.Errorf("children = %q (%s), want the pod %s", got, obs.Facts["children"].Why(), pod)
	}
	wantFact(t, obs, "remains", "some")
	wantFact(t, obs, "keeper_alive", "?no finalizer")

	// Foreground deletion: the Job waits for the pod, and that for its own.
	w.merge(w.in("", "pods", pod), fields{"metadata": fields{"finalizers": []string{"example.com/log-shipper", "batch.kubernetes.io/job-tracking"}}})
	w.remove(w.in(batchV1, "jobs", "parent"), fields{"propagationPolicy": "Foreground"})
	obs = w.probe(w.env, "kube/finalizers", "job", "parent")
	if !slices.Contains(obs.Facts["names"].Strings(), "foregroundDeletion") {
		t.Fatalf("names = %v, want foregroundDeletion", obs.Facts["names"])
	}
	wantFact(t, obs, "keeper_alive", "alive")
	wantFact(t, obs, "blocker", "finalizer")
	wantFact(t, obs, "remains", "some")
	wantFinding(t, obs, "pod/"+pod+" (example.com/log-shipper")
}

// TestClaimInUse asks the real controller of claims: it waits for the Pods that name one, and for nothing else.
func TestClaimInUse(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	volume := w.ns + "-data"
	w.create("/api/v1/persistentvolumes", fields{"metadata": fields{"name": volume}, "spec": fields{
		"capacity": fields{"storage": "1Gi"}, "accessModes": []string{"ReadWriteOnce"}, "persistentVolumeReclaimPolicy": "Delete",
		"csi": fields{"driver": "none.example.com", "volumeHandle": volume}}})
	t.Cleanup(func() { w.remove("/api/v1/persistentvolumes/"+volume, nil) })
	claim := w.in("", "persistentvolumeclaims", "data")
	w.create(w.in("", "persistentvolumeclaims", ""), fields{"metadata": fields{"name": "data"}, "spec": fields{
		"volumeName": volume, "storageClassName": "", "accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "1Gi"}}}})
	user := fields{"metadata": fields{"name": "user"}, "spec": fields{"nodeName": "none", "containers": []fields{{"name": "c", "image": "i"}},
		"volumes": []fields{{"name": "v", "persistentVolumeClaim": fields{"claimName": "data"}}}}}
	w.create(w.in("", "pods", ""), user)
	if used := w.probe(w.root(), "kube/finalizers", "pvc", "data"); len(used.Facts["waits_for"].Table()) != 1 || strings.Contains(used.Summary, "waits for") {
		t.Errorf("a claim that is to stay: %s, %v", used.Summary, used.Facts["waits_for"])
	}
	w.remove(claim, nil)
	obs := w.probe(w.root(), "kube/finalizers", "pvc", "data")
	wantFact(t, obs, "names", `["kubernetes.io/pvc-protection"]`)
	wantFact(t, obs, "keeper_alive", "alive")
	wantFact(t, obs, "reclaim_policy", "Delete")
	wantFinding(t, obs, "its data is deleted")
	if got := obs.Facts["waits_for"].Table(); !strings.HasPrefix(got["pod/user"], "Pending on node none") || len(got) != 1 {
		t.Errorf("waits_for = %v, want the Pod", obs.Facts["waits_for"])
	}
	blind := w.probe(w.limited("no-pods", may("", "persistentvolumeclaims", "get")), "kube/finalizers", "pvc", "data")
	wantFact(t, blind, "waits_for", "?forbidden")
	wantFact(t, blind, "reclaim_policy", "?forbidden")

	w.remove(w.in("", "pods", "user"), fields{"gracePeriodSeconds": 0})
	w.until("the claim goes", func() bool {
		code, _, err := w.try(http.MethodGet, claim, "", nil)
		return err == nil && code == http.StatusNotFound
	})
	wantFact(t, w.probe(w.root(), "kube/finalizers", "pvc", "data"), "waits_for", "")
}

// TestRemains is none on proof alone.
func TestRemains(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.guarded("harmless", "argocd.argoproj.io/hook-finalizer")
	w.guarded("claim", "argocd.argoproj.io/hook-finalizer", "example.com/disk")
	wantFact(t, w.probe(w.env, "kube/finalizers", "cm", "harmless"), "remains", "none")
	both := w.probe(w.env, "kube/finalizers", "cm", "claim")
	wantFact(t, both, "remains", "?example.com/disk")
	wantFact(t, both, "children", "[]")
	wantFact(t, both, "only", "?2 finalizers")
	blind := w.probe(w.limited("blind", may("", "configmaps", "get")), "kube/finalizers", "cm", "harmless")
	wantFact(t, blind, "children", "?permission denied")
	wantFact(t, blind, "remains", "?not all children")
	wantGap(t, blind, "secrets")
	wantGap(t, blind, "apiservices")
}

// TestStuckNamespace asks the real namespace controller.
func TestStuckNamespace(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	ns := w.another().Name
	path := "/api/v1/namespaces/" + ns
	w.create(path+"/configmaps", fields{"metadata": fields{"name": "held", "finalizers": []string{"example.com/guard"}}})
	t.Cleanup(func() {
		_, _, _ = w.try(http.MethodPatch, path+"/configmaps/held", "application/merge-patch+json", fields{"metadata": fields{"finalizers": nil}})
	})
	wantFact(t, w.probe(w.root(), "kube/finalizers", "namespace", ns), "blocker", "none")
	w.remove(path, nil)
	w.until("the namespace controller's word", func() bool {
		raw, err := json.Marshal(w.read(path)["status"])
		return err == nil && strings.Contains(string(raw), `"status":"True","type":"NamespaceFinalizersRemaining"`)
	})
	obs := w.probe(w.root(), "kube/finalizers", "namespace", ns)
	wantFact(t, obs, "blocker", "finalizer")
	wantFinding(t, obs, "example.com/guard in 1 resource instances")
	wantFact(t, obs, "children", "?cluster-wide owner")
	wantFact(t, obs, "remains", "?")
}
