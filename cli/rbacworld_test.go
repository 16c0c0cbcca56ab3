package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
)

// permitCase is one runbook, and the parameters by which its probes find something: two
// worlds where it asks for one thing in one and for another in the other.
type permitCase struct {
	runbook string
	worlds  []map[string]string
	told    []string // arguments of the command that name what the incident is about
}

// permitWorld is a namespace of the real API server with what the probes look for.
type permitWorld struct {
	t     *testing.T
	lab   *lab.Lab
	ns    lab.Namespace
	cases []permitCase
	n     int
	mu    sync.Mutex
}

func newPermitWorld(t *testing.T) *permitWorld {
	t.Helper()
	usesLab(t)
	opts, err := lab.ForTests("rbac")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	ns, err := l.Namespace(t.Context(), "permit")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.VacateNamespace(context.Background(), ns.Name) })
	w := &permitWorld{t: t, lab: l, ns: ns}
	object := map[string]any{"metadata": map[string]any{"name": "hook", "finalizers": []string{"example.com/hook-cleanup"}},
		"spec": map[string]any{"suspend": true, "template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "none.example/a"}}}}}}
	jobs := "/apis/batch/v1/namespaces/" + ns.Name + "/jobs"
	w.admin(http.MethodPost, jobs, object)
	w.admin(http.MethodDelete, jobs+"/hook", nil)
	t.Cleanup(func() {
		w.admin(http.MethodPatch, jobs+"/hook", map[string]any{"metadata": map[string]any{"finalizers": nil}})
	})
	w.admin(http.MethodPost, "/api/v1/namespaces/"+ns.Name+"/configmaps", map[string]any{"metadata": map[string]any{"name": "target"}, "data": map[string]any{"a": "b"}})
	w.admin(http.MethodPost, "/api/v1/namespaces/"+ns.Name+"/services", map[string]any{"metadata": map[string]any{"name": "silent"}, "spec": map[string]any{"ports": []any{map[string]any{"port": 443}}}})
	hook := "permit." + ns.Name + ".example"
	if err := l.Hook(t.Context(), ns.Name, lab.Webhook{Name: hook, Of: "silent", Rules: []lab.HookRule{{Version: "v1", Resources: []string{"podtemplates"}, Operations: []string{"CREATE"}}}}); err != nil {
		t.Fatal(err)
	}
	entry := w.admin(http.MethodGet, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"+hook, nil)["webhooks"].([]any)[0].(map[string]any)["name"].(string)
	const validating = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	other := "validating." + hook
	w.admin(http.MethodPost, validating, map[string]any{"metadata": map[string]any{"name": other}, "webhooks": []any{map[string]any{"name": other, "sideEffects": "None", "failurePolicy": "Ignore",
		"admissionReviewVersions": []string{"v1"}, "clientConfig": map[string]any{"service": map[string]any{"namespace": ns.Name, "name": "silent"}},
		"namespaceSelector": map[string]any{"matchLabels": map[string]string{"kubernetes.io/metadata.name": ns.Name}}}}})
	t.Cleanup(func() { w.admin(http.MethodDelete, validating+"/"+other, nil) })
	w.cascades()
	policy := "policy." + hook
	if err := l.Enforce(t.Context(), ns.Name, lab.Policy{Name: policy, Rules: []lab.HookRule{{Version: "v1", Resources: []string{"configmaps"}, Operations: []string{"CREATE", "UPDATE"}}}, Expression: "true", Message: "never"}); err != nil {
		t.Fatal(err)
	}
	w.cases = []permitCase{
		{runbook: "admission-denied", worlds: []map[string]string{{"webhook": entry, "namespace": ns.Name}, {"webhook": other, "namespace": ns.Name},
			{"policy": policy, "binding": policy, "resource": "configmaps", "name": "target", "namespace": ns.Name}, {"policy": policy, "binding": policy, "resource": "configmaps", "name": "new", "namespace": ns.Name, "file": w.manifest(ns.Name)}},
			told: []string{"-p", "resource=configmaps"}},
		{runbook: "stuck-finalizer", worlds: []map[string]string{{"name": "hook", "namespace": ns.Name, "space": ns.Name}}},
		{runbook: "reverting-fixes", worlds: []map[string]string{{"name": "target", "namespace": ns.Name, "field": "data.a", "binding": "absent", "blockade": "absent"}}},
		{runbook: "hardening-cascade", worlds: []map[string]string{{"namespace": ns.Name, "status": "target", "quota": "small", "app": "web", "account": "default", "database": "service/silent",
			"binding": "runs", "role": "needed", "claim": "data", "policy": "closed", "policy_patch": "[{op: add, path: /spec/egress, value: []}]", "lock": "target", "lock_patch": "status=open", "hook": "hook",
			"script": "target", "script_patch": "[{op: add, path: /data/run, value: set -e}]", "migration": "migrate", "schema": "target", "schema_patch": "version=2"}}},
		{runbook: "helm-pending", worlds: []map[string]string{{"release": "shop", "namespace": ns.Name}}},
		{runbook: "init-cascade", worlds: []map[string]string{{"namespace": ns.Name, "name": "web", "copied": "spec.replicas", "source": "target", "source_field": "data.a", "bait": "target", "services": "silent",
			"uri_field": "data.a", "topology": "target", "topology_field": "data.a", "job_name": "migrate"}}},
		{runbook: "secret-sync", worlds: []map[string]string{{"object": "absent", "namespace": ns.Name, "name": "web"}}},
		{runbook: "creates-that-exist", worlds: []map[string]string{{"namespace": ns.Name, "name": "target", "pod": "lone"}}},
		{runbook: "flag-drift", worlds: []map[string]string{{"address": "kubernetes_config_map.target", "flag": "a", "namespace": ns.Name, "name": "target"}}},
		{runbook: "artifact-registry", worlds: []map[string]string{{"image": "none.example/a:1", "expected": "sha256:" + strings.Repeat("a", 64), "name": "web", "container": "a", "namespace": ns.Name}}},
		{runbook: "state-collision", worlds: []map[string]string{{"schedule": "nightly", "schedule_namespace": ns.Name}}},
	}
	return w
}

// manifest writes one of an object that is not there yet.
func (w *permitWorld) manifest(ns string) string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "new.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: "+ns+"}\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// cascades makes what the runbooks of cascades look at: a workload that waits in its init
// container, and an object for each gate that a hardening rollout closes.
func (w *permitWorld) cascades() {
	in := func(api, resource string) string { return api + "/namespaces/" + w.ns.Name + "/" + resource }
	named := func(name string, spec any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "spec": spec}
	}
	container := func(name string) map[string]any { return map[string]any{"name": name, "image": "none.example/a"} }
	waits := container("wait")
	waits["envFrom"] = []any{map[string]any{"configMapRef": map[string]any{"name": "target"}}, map[string]any{"secretRef": map[string]any{"name": "creds"}}}
	pod := map[string]any{"initContainers": []any{waits}, "containers": []any{container("a")}}
	once := map[string]any{"restartPolicy": "Never", "containers": []any{container("a")}}
	labels := map[string]any{"app": "web"}
	job := map[string]any{"suspend": true, "template": map[string]any{"spec": once}}
	w.admin(http.MethodPost, in("/api/v1", "secrets"), map[string]any{"metadata": map[string]any{"name": "creds"}, "stringData": map[string]any{"a": "b"}})
	w.admin(http.MethodPost, in("/api/v1", "secrets"), map[string]any{"type": "helm.sh/release.v1", "stringData": map[string]any{"release": "b"},
		"metadata": map[string]any{"name": "sh.helm.release.v1.shop.v2", "labels": map[string]any{"owner": "helm", "name": "shop", "version": "2", "status": "pending-upgrade"}}})
	w.admin(http.MethodPost, in("/api/v1", "resourcequotas"), named("small", map[string]any{"hard": map[string]any{"services.loadbalancers": "0"}}))
	w.admin(http.MethodPost, in("/api/v1", "persistentvolumeclaims"), named("data", map[string]any{"storageClassName": "absent", "accessModes": []string{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}))
	w.admin(http.MethodPost, in("/api/v1", "pods"), named("lone", pod))
	w.admin(http.MethodPost, in("/apis/apps/v1", "deployments"), named("web", map[string]any{"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}}))
	w.admin(http.MethodPost, in("/apis/batch/v1", "jobs"), named("migrate", job))
	w.admin(http.MethodPost, in("/apis/batch/v1", "cronjobs"), named("nightly", map[string]any{"schedule": "0 3 * * *", "suspend": true, "jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": once}}}}))
	w.admin(http.MethodPost, in("/apis/networking.k8s.io/v1", "networkpolicies"), named("closed", map[string]any{"podSelector": map[string]any{}, "policyTypes": []string{"Egress"}}))
	const rbac = "/apis/rbac.authorization.k8s.io/v1"
	w.admin(http.MethodPost, in(rbac, "roles"), map[string]any{"metadata": map[string]any{"name": "needed"}, "rules": []any{}})
	w.admin(http.MethodPost, in(rbac, "rolebindings"), map[string]any{"metadata": map[string]any{"name": "runs"},
		"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "needed"}, "subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "default", "namespace": w.ns.Name}}})
}

func (w *permitWorld) admin(method, path string, in any) map[string]any {
	w.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", w.lab.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequest(method, cfg.Host+path, bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", map[bool]string{true: "application/merge-patch+json", false: "application/json"}[method == http.MethodPatch])
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode/100 != 2 {
		w.t.Fatalf("%s %s: %s %v %v", method, path, res.Status, err, out["message"])
	}
	return out
}
