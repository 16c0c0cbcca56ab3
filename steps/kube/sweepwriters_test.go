package kube

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/cluster/wire"
	"handrail/steps/kube/sweep"
)

// sweepAs runs the sweep with the account of env.
func (w *keepersWorld) sweepAs(env steps.Env, in steps.Params) (steps.Observation, *readsSink) {
	w.t.Helper()
	sink := newReadsSink()
	obs, err := readsProbe(w.t.Context(), env, "kube/persistence", in, sink)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs, sink
}

// has says which of the wanted entries a category has, by their beginning.
func wantEntries(t *testing.T, obs steps.Observation, category string, want ...string) {
	t.Helper()
	got := obs.Facts[category]
	var names []string
	for _, n := range got.Strings() {
		if !strings.HasPrefix(n, "keepers-") { // what every namespace of the lab has
			names = append(names, n)
		}
	}
	slices.Sort(names)
	slices.Sort(want)
	if !got.Known() || !slices.Equal(names, want) {
		t.Errorf("%s = %q (%s), want %q", category, names, got.Why(), want)
	}
}

func pod(more fields) fields {
	spec := fields{"containers": []any{fields{"name": "main", "image": "registry.example/audit:1.2", "command": []string{"sh", "-c", "kubectl apply -f /fix"}}}}
	for k, v := range more {
		spec[k] = v
	}
	return spec
}

func template(labels fields, spec fields) fields {
	return fields{"metadata": fields{"labels": labels}, "spec": spec}
}

// sweepOfOwn plants one of each category and looks for it.
func sweepOfOwn(t *testing.T, w *keepersWorld) {
	const rbac, adm = "/apis/rbac.authorization.k8s.io/v1", "/apis/admissionregistration.k8s.io/v1"
	w.create("/api/v1/namespaces", fields{"metadata": fields{"name": "monitoring", "labels": fields{"pod-security.kubernetes.io/enforce": "restricted", "team": "monitoring"}}})
	const mon = "/namespaces/monitoring"
	w.create("/api/v1"+mon+"/serviceaccounts", fields{"metadata": fields{"name": "auditor"}})
	w.create(rbac+"/clusterrolebindings", fields{"metadata": fields{"name": "audit-writer"}, "roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
		"subjects": []any{fields{"kind": "ServiceAccount", "name": "auditor", "namespace": "monitoring"}}})
	w.create(rbac+"/clusterrolebindings", fields{"metadata": fields{"name": "reads-only"}, "roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
		"subjects": []any{fields{"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}}})
	w.create(rbac+"/clusterrolebindings", fields{"metadata": fields{"name": "dangling"}, "roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "no-such"},
		"subjects": []any{fields{"kind": "User", "name": "later", "apiGroup": "rbac.authorization.k8s.io"}}})
	// A user adds himself to a binding that the API server made.
	w.merge(rbac+"/clusterrolebindings/system:kube-scheduler", fields{"subjects": []any{
		fields{"kind": "User", "name": "system:kube-scheduler", "apiGroup": "rbac.authorization.k8s.io"},
		fields{"kind": "User", "name": "guest", "apiGroup": "rbac.authorization.k8s.io"}}})
	// And into a role of it, under the name that the API server writes by.
	w.send("PATCH", rbac+"/clusterroles/system:controller:job-controller?fieldManager=kube-apiserver", "application/json-patch+json", []any{fields{"op": "add", "path": "/rules/-",
		"value": fields{"apiGroups": []string{""}, "resources": []string{"secrets"}, "verbs": []string{"update"}}}})
	// And a Pod runs as one of its controllers, none of which is a Pod.
	w.create("/apis/apps/v1/namespaces/kube-system/deployments", fields{"metadata": fields{"name": "impostor"}, "spec": fields{"selector": fields{"matchLabels": fields{"app": "z"}}, "replicas": 0,
		"template": template(fields{"app": "z"}, pod(fields{"serviceAccountName": "cronjob-controller"}))}})
	job := fields{"template": template(nil, pod(fields{"serviceAccountName": "auditor", "restartPolicy": "Never"}))}
	cron := w.create("/apis/batch/v1"+mon+"/cronjobs", fields{"metadata": fields{"name": "config-audit", "finalizers": []string{"example.com/hold"}},
		"spec": fields{"schedule": "* * * * *", "suspend": true, "jobTemplate": fields{"spec": job}}})
	child := []any{fields{"apiVersion": "batch/v1", "kind": "CronJob", "name": "config-audit", "uid": cron["metadata"].(fields)["uid"], "controller": true}}
	w.create("/apis/batch/v1"+mon+"/jobs", fields{"metadata": fields{"name": "child", "ownerReferences": child}, "spec": job})
	w.create("/apis/batch/v1"+mon+"/jobs", fields{"metadata": fields{"name": "changeling", "ownerReferences": child},
		"spec": fields{"template": template(nil, pod(fields{"serviceAccountName": "auditor", "restartPolicy": "Never", "hostPID": true}))}})
	selector := fields{"matchLabels": fields{"app": "x"}}
	w.create("/apis/apps/v1"+mon+"/deployments", fields{"metadata": fields{"name": "writer"}, "spec": fields{"selector": selector, "replicas": 0,
		"template": template(fields{"app": "x"}, pod(fields{"serviceAccountName": "auditor"}))}})
	w.create("/apis/apps/v1"+mon+"/deployments", fields{"metadata": fields{"name": "harmless"}, "spec": fields{"selector": selector, "replicas": 0, "template": template(fields{"app": "x"}, pod(nil))}})
	w.create("/apis/apps/v1"+mon+"/daemonsets", fields{"metadata": fields{"name": "agent"}, "spec": fields{"selector": selector,
		"template": template(fields{"app": "x"}, pod(fields{"volumes": []any{fields{"name": "etc", "hostPath": fields{"path": "/etc"}}}}))}})
	w.create("/apis/apps/v1"+mon+"/replicasets", fields{"metadata": fields{"name": "alone"}, "spec": fields{"replicas": 0, "selector": fields{"matchLabels": fields{"app": "y"}},
		"template": template(fields{"app": "y"}, pod(fields{"serviceAccountName": "auditor"}))}})
	w.create("/api/v1/namespaces/default/pods", fields{"metadata": fields{"name": "bare"}, "spec": pod(fields{"hostNetwork": true, "automountServiceAccountToken": false})})
	w.create("/api/v1/namespaces/default/pods", fields{"metadata": fields{"name": "static", "annotations": fields{"kubernetes.io/config.source": "file"}}, "spec": pod(fields{"automountServiceAccountToken": false})})
	hook := fields{"name": "roles.example.com", "failurePolicy": "Ignore", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
		"namespaceSelector": fields{"matchLabels": fields{"team": "monitoring"}},
		"clientConfig":      fields{"url": "https://127.0.0.1:1/"},
		"rules":             []any{fields{"apiGroups": []string{"rbac.authorization.k8s.io"}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"rolebindings"}}}}
	w.create(adm+"/mutatingwebhookconfigurations", fields{"metadata": fields{"name": "rbac-policy-enforcer"}, "webhooks": []any{hook}})
	w.create(adm+"/validatingadmissionpolicies", fields{"metadata": fields{"name": "no-fix"}, "spec": fields{
		"matchConstraints": fields{"resourceRules": []any{fields{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"UPDATE"}, "resources": []string{"configmaps"}}}},
		"validations":      []any{fields{"expression": "true"}}}})
	w.create("/apis/networking.k8s.io/v1"+mon+"/networkpolicies", fields{"metadata": fields{"name": "grafana-egress-restrict"}, "spec": fields{"podSelector": fields{}, "policyTypes": []string{"Egress"}}})

	obs, sink := w.sweepAs(w.root(), steps.Params{})
	wantFact(t, obs, "complete", "true")
	wantFact(t, obs, "dirty", "true")
	wantFact(t, obs, "unread", "[]")
	wantEntries(t, obs, "cronjobs", "monitoring/cronjob/config-audit", "monitoring/job/changeling")
	wantEntries(t, obs, "webhooks", "mutatingwebhookconfiguration/rbac-policy-enforcer")
	wantEntries(t, obs, "policies", "validatingadmissionpolicy/no-fix")
	wantEntries(t, obs, "workloads", "monitoring/deployment/writer", "monitoring/replicaset/alone", "kube-system/deployment/impostor")
	wantEntries(t, obs, "accounts", "monitoring/serviceaccount/auditor", "user/guest", "kube-system/serviceaccount/job-controller")
	wantFinding(t, obs, "system:controller:job-controller (update /secrets)")
	wantEntries(t, obs, "finalizers", "monitoring/cronjobs.batch/config-audit")
	wantEntries(t, obs, "pod_security", "monitoring/labels")
	wantEntries(t, obs, "host_access", "monitoring/daemonset/agent", "monitoring/job/changeling", "default/pod/bare", "default/pod/static")
	wantEntries(t, obs, "network_policies", "monitoring/networkpolicy/grafana-egress-restrict")
	wantEntries(t, obs, "gitops")
	wantEntries(t, obs, "apiservices")
	wantEntries(t, obs, "node_writers")
	wantFinding(t, obs, "claims to be of cronjob/config-audit")
	wantFinding(t, obs, "1 bindings name a role that is not there")
	wantFinding(t, obs, "told by RBAC alone")

	// A person fills in the proposal, and everything is accounted for.
	filled := strings.NewReplacer(`accounts: ""`, `accounts: "team monitoring"`, `until: ""`, `until: "2099-12-31"`).Replace(sink.text("allow"))
	dir := t.TempDir()
	allow := filepath.Join(dir, "allow.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(allow, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filled)
	in := steps.Params{"allow": steps.PathOf(allow)}
	obs, _ = w.sweepAs(w.root(), in)
	wantFact(t, obs, "unaccounted", "0")
	wantFact(t, obs, "dirty", "false")
	wantFact(t, obs, "unaccounted_list", "[]")

	// A release and a pause change nothing that matters; another command does.
	cronPath := "/apis/batch/v1" + mon + "/cronjobs/config-audit"
	patch := func(change fields) {
		t.Helper()
		w.send("PATCH", cronPath, "application/strategic-merge-patch+json", fields{"spec": change})
	}
	container := func(c fields) fields {
		c["name"] = "main"
		return fields{"jobTemplate": fields{"spec": fields{"template": fields{"spec": fields{"containers": []any{c}}}}}}
	}
	patch(fields{"suspend": false, "schedule": "0 0 1 1 *"})
	patch(fields{"suspend": true})
	obs, _ = w.sweepAs(w.root(), in)
	wantFact(t, obs, "unaccounted", "0")
	patch(container(fields{"command": []string{"sh", "-c", "kubectl delete -f /fix"}}))
	obs, _ = w.sweepAs(w.root(), in)
	wantEntries(t, obs, "cronjobs", "monitoring/cronjob/config-audit (changed since team monitoring accounted for it)", "monitoring/job/child")

	// A list that cannot be read accounts for nothing, and says nothing is dirty.
	write(sink.text("allow"))
	obs, _ = w.sweepAs(w.root(), in)
	wantFact(t, obs, "unaccounted", "?accounts is empty")
	wantFact(t, obs, "dirty", "?accounts is empty")
	wantGap(t, obs, "accounts is empty")

	// Who may not read all is told what was not read, and that it is dirty all the same.
	write(filled)
	obs, _ = w.sweepAs(w.env, in)
	wantFact(t, obs, "complete", "?could not be read")
	wantFact(t, obs, "unaccounted", "?could not be read")
	wantFact(t, obs, "dirty", "?not all was read")
	wantFact(t, obs, "webhooks", "?permission denied")
	if got := strings.Join(obs.Facts["unread"].Strings(), "\n"); !strings.Contains(got, "cronjobs: cronjobs.batch") || !strings.Contains(got, "accounts: clusterroles") {
		t.Errorf("unread = %s", got)
	}

	// In a shared cluster, only what can touch one namespace.
	obs, _ = w.sweepAs(w.root(), steps.Params{"reach": steps.StringsOf([]string{"default"})})
	wantEntries(t, obs, "webhooks")
	wantEntries(t, obs, "network_policies")
	wantEntries(t, obs, "cronjobs", "monitoring/cronjob/config-audit", "monitoring/job/changeling", "monitoring/job/child")
	wantEntries(t, obs, "workloads", "monitoring/deployment/writer", "monitoring/replicaset/alone", "kube-system/deployment/impostor")
	wantFinding(t, obs, "cannot touch default")

	sameInBothForms(t, w)
	sweepOfNodes(t, w, dir)
}

// sweepOfNodes has a node in the API, whose report is missing, whole and old.
func sweepOfNodes(t *testing.T, w *keepersWorld, dir string) {
	t.Helper()
	w.create("/api/v1/nodes", fields{"metadata": fields{"name": "worker-1"}})
	defer w.remove("/api/v1/nodes/worker-1", nil)
	reports := filepath.Join(dir, "reports")
	if err := os.MkdirAll(reports, 0o700); err != nil {
		t.Fatal(err)
	}
	in := steps.Params{"nodes": steps.PathOf(reports)}
	obs, _ := w.sweepAs(w.root(), in)
	wantFact(t, obs, "node_writers", "?node worker-1: there is no report of it")
	wantFact(t, obs, "complete", "?could not be read")
	wantFact(t, obs, "dirty", "true")

	env := w.root()
	writeReport(t, filepath.Join(reports, "worker-1"), "worker-1", env.Now(), "item|timers|timer k8s-health-monitor.timer|every 2 min|0123456789abcdef")
	obs, _ = w.sweepAs(env, in)
	wantFact(t, obs, "complete", "true")
	wantEntries(t, obs, "node_writers", "node worker-1/timers/timer k8s-health-monitor.timer")

	in["expect_nodes"] = steps.StringsOf([]string{"worker-1", "worker-2"})
	obs, _ = w.sweepAs(env, in)
	wantFact(t, obs, "node_writers", "?node worker-2")
	delete(in, "expect_nodes")
	writeReport(t, filepath.Join(reports, "worker-1"), "worker-1", env.Now().Add(-3*time.Hour))
	obs, _ = w.sweepAs(env, in)
	wantFact(t, obs, "node_writers", "?make it anew")
}

// sameInBothForms sweeps a real server that answers in protobuf, and again behind
// an account that may not ask for it.
func sameInBothForms(t *testing.T, w *keepersWorld) {
	t.Helper()
	for name, shape := range sweep.Shapes() {
		plural, group, _ := strings.Cut(name, ".")
		r := cluster.Resource{Group: group, Version: "v1", Plural: plural}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+r.Path("", ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", sweep.Whole(r, true).Accept)
		res, err := w.admin.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil {
			_, err = wire.List(raw, shape, func(map[string]any) error { return nil })
		}
		if err != nil {
			t.Errorf("%s is not answered in protobuf: %v", name, err)
		}
	}
	asked := 0
	var mu sync.Mutex
	env := w.front(func(_ http.ResponseWriter, r *http.Request) bool {
		first, rest, _ := strings.Cut(r.Header.Get("Accept"), ",")
		if strings.HasPrefix(first, wire.Media) {
			mu.Lock()
			asked++
			mu.Unlock()
			r.Header.Set("Accept", rest)
		}
		return false
	})
	_, inJSON := w.sweepAs(env, steps.Params{})
	_, inProtobuf := w.sweepAs(w.root(), steps.Params{})
	if d := cmp.Diff(inJSON.text("entries"), inProtobuf.text("entries")); d != "" || asked < len(sweep.Shapes()) {
		t.Errorf("%d lists asked for in protobuf; the entries differ: %s", asked, d)
	}
}
