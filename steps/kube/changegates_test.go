package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/owner"
	"handrail/steps/kube/patch"
)

func cronJob(name string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"schedule": "30 2 * * *",
		"jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "b"}}}}}}}}
}

// TestSuspendAndResume pauses a CronJob and lets it go on; the pause owes its end.
func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.born("batch", "cronjobs", cronJob("audit"))
	in := changeIn("cronjob", "audit", uid)
	p, _ := s.acts("kube/suspend", in, steps.Done)
	if p.Phrase != "pause cronjob/"+s.ns.Name+"/audit" || len(p.Owes) != 1 || p.Owes[0].Kind != "resume" || p.Owes[0].Due != 4*time.Hour {
		t.Errorf("phrase = %q, owes = %+v", p.Phrase, p.Owes)
	}
	if on, _ := patch.Get(s.now(s.at("batch", "cronjobs", "audit")), "/spec/suspend"); on != true {
		t.Errorf("suspend = %v", on)
	}
	s.refused("kube/suspend", in, "is paused already")
	p, _ = s.acts("kube/resume", in, steps.Done)
	if p.Phrase != "resume cronjob/"+s.ns.Name+"/audit" || len(p.Owes) != 0 || !strings.Contains(p.Effect, "may start at once") {
		t.Errorf("phrase = %q, owes = %+v, effect = %q", p.Phrase, p.Owes, p.Effect)
	}
	s.refused("kube/resume", in, "is not paused")
	dep := s.born("apps", "deployments", deployment("web", nil))
	s.refused("kube/suspend", changeIn("deployment", "web", dep), "cannot be paused")
	if w := s.writes(); len(w) != 2 {
		t.Errorf("writes = %+v", w)
	}
}

// TestStopBatch takes the Pods from workloads through their subresource, by what kube/named found running, and
// names the autoscaler that would undo it. A CronJob has no Pods to take.
func TestStopBatch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{"apps"}, []string{"deployments/scale"})
	s.born("apps", "deployments", deployment("web", nil))
	s.born("apps", "deployments", deployment("writer", nil))
	cron := s.born("batch", "cronjobs", cronJob("audit"))
	s.numbered("web")
	s.numbered("writer")
	read := func() map[string]steps.Value {
		return s.named(steps.Params{"namespace": steps.StringOf(s.ns.Name), "objects": steps.StringOf("deployment/web deployment/writer cronjob/audit")})
	}
	facts := read()
	if len(facts["running"].Table()) != 2 || len(facts["pausable"].Table()) != 1 || len(facts["active"].Strings()) != 1 {
		t.Fatalf("named: %v", facts)
	}
	in := steps.Params{"uids": facts["running"]}
	p := s.preview(s.gate("kube/stop-batch"), in)
	if len(p.Unmet) > 0 || len(p.Owners) != 0 || !strings.HasPrefix(p.Phrase, "stop 2 ") || len(p.Owes) != 2 || p.Owes[0].Kind != "resume" || !strings.Contains(p.Owes[0].Text, "its 1 Pods back") {
		t.Errorf("unmet = %s, owners = %v, phrase = %q, owes = %+v", unmetText(p), p.Owners, p.Phrase, p.Owes)
	}
	if strings.Count(p.Request, "/scale?") != 2 || strings.Count(p.Command, "--subresource=scale") != 2 {
		t.Errorf("request = %s, command = %s", p.Request, p.Command)
	}
	s.acts("kube/stop-batch", in, steps.Done)
	if facts = read(); len(facts["running"].Table()) != 0 {
		t.Errorf("still running: %v", facts["running"])
	}
	s.refused("kube/stop-batch", in, "so already, or gone")
	s.must("POST", "/apis/autoscaling/v2/namespaces/"+s.ns.Name+"/horizontalpodautoscalers", cluster.AsJSON,
		`{"metadata":{"name":"web"},"spec":{"minReplicas":2,"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}}`)
	s.merge2("deployments", "web", `{"spec":{"replicas":2}}`)
	p = s.preview(s.gate("kube/stop-batch"), in)
	if len(p.Owners) != 1 || p.Owners[0].Paused != owner.PausedNo || !strings.Contains(p.Owners[0].Name, "horizontalpodautoscaler/"+s.ns.Name+"/web") || !strings.Contains(p.Owners[0].How, "from 2 to 5") {
		t.Errorf("owners = %+v", p.Owners)
	}
	s.refused("kube/stop-batch", steps.Params{"uids": steps.TableOf(map[string]string{"cronjobs.batch/" + s.ns.Name + "/audit": cron})}, "no number of Pods")
	for _, w := range s.writes() {
		if w.Verb != "patch" || w.Subresource != "scale" {
			t.Errorf("write = %+v", w)
		}
	}
}

// TestRestart leaves the mark of kubectl in the template, with the time of the
// act; a second restart is a change again.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.born("apps", "deployments", deployment("web", nil))
	in := changeIn("deployment", "web", uid)
	p, _ := s.acts("kube/restart", in, steps.Done)
	if !strings.Contains(p.Request, act.AtAct) || !strings.Contains(p.Undo, "Cannot be undone") || p.Phrase != "restart deployment/"+s.ns.Name+"/web" {
		t.Errorf("request = %s, undo = %s, phrase = %s", p.Request, p.Undo, p.Phrase)
	}
	s.merge2("deployments", "web", `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}}}}}`)
	s.acts("kube/restart", in, steps.Done)
	s.merge2("deployments", "web", `{"spec":{"paused":true}}`)
	s.refused("kube/restart", in, "nothing would restart")
}

// merge2 changes a workload as another client would.
func (s *stage) merge2(resource, name, body string) {
	s.t.Helper()
	s.must("PATCH", s.at("apps", resource, name), "application/merge-patch+json", body)
}

// TestCreate makes one object and refuses to make what is there.
func TestCreate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.Dir = t.TempDir()
	file := func(body string) steps.Params {
		name := filepath.Join(s.env.Dir, "m.yaml")
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return steps.Params{"file": steps.PathOf("m.yaml"), "namespace": steps.StringOf(s.ns.Name)}
	}
	in := file("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: schema\n  labels: {app: a}\ndata:\n  version: \"3\"\n")
	p, o := s.acts("kube/create", in, steps.Done)
	if p.Phrase != "create configmap/"+s.ns.Name+"/schema" || len(p.Diff) == 0 || !strings.Contains(p.Undo, "delete configmaps schema") {
		t.Errorf("phrase = %q, diff = %q, undo = %q", p.Phrase, p.Diff, p.Undo)
	}
	if steps.Find(o.After, act.KeyUID) == "" || !strings.Contains(s.content("configmaps", "schema"), `"version":"3"`) {
		t.Errorf("after = %v", o.After)
	}
	s.refused("kube/create", in, "is there already")
	for why, body := range map[string]string{
		"looks like a secret":   "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\n",
		"garbage collector":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, ownerReferences: []}\n",
		"cannot be deleted":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, finalizers: [a/b]}\n",
		"the server's to give":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: b}\n",
		"its controller":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nstatus: {}\n",
		"is protected":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {purpose: chaos-canary}}\n",
		"the server refused it": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {a: b}\n",
	} {
		s.refused("kube/create", file(body), why)
	}
	for why, body := range map[string]string{
		"more than one document": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\n",
		"is a list":              "apiVersion: v1\nkind: List\nitems: []\n",
		"no object":              "a: b\n",
		"quote it":               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: on}\n",
		"which one is meant":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\n",
		"serves no resource":     "apiVersion: nobody.example/v1\nkind: Thing\nmetadata: {name: a}\n",
	} {
		if _, err := s.gate("kube/create").Preview(t.Context(), file(body), &scrap{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Preview() = %v, want %q", err, why)
		}
	}
	if w := s.writes(); len(w) != 1 || w[0].Verb != "create" || w[0].ID != steps.Find(o.After, act.KeyAudit) {
		t.Errorf("writes = %+v", w)
	}
}
