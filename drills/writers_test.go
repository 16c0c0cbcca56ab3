package drills_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills"
	"handrail/steps/catalog"
)

// writersDrill has every writer at once: a webhook, a CronJob, a Deployment, and a
// program on the node.
const writersDrill = `apiVersion: handrail/v1
kind: Drill
id: writers
runbook: stuck-finalizer
title: t
page: p
reference: writers.answers.yaml
params: {name: x, namespace: "${drill.namespace}"}
expect: {exit: 0}
inject:
  - kube.account: {name: robot, writes: [serviceaccounts, roles, rolebindings]}
  - kube.account: {name: operator, writes: [rolebindings], binds: [scrape-reader, node-audit]}
  - kube.account: {name: health-monitor, writes: [configmaps]}
  - kube.account: {name: config-audit, writes: [configmaps]}
  - node.run:
      images:
        migrate: {run: [[echo, applying 41], [fail, "3", "pq: relation \"tariffs\" does not exist"]]}
        prometheus: {port: 9090, paths: [/-/ready]}
  - kube.create: {file: writers.objects.yaml}
  - webhook.serve:
      name: rbac-policy-enforcer
      rewrites: [{resource: rolebindings, operations: [CREATE, UPDATE], names: monitoring, set: {/roleRef/name: node-audit}}]
  - node.unit:
      name: k8s-health-monitor
      account: health-monitor
      every: 200ms
      title: "[kworker/u8:2]"
      manager: argocd-controller
      cron: true
      writes: [{resource: configmaps, name: outside, patch: {data: {port: "9099"}}}]
  - kube.await: {resource: configmaps, name: outside, at: /data/port, is: "9099"}
  - kube.await: {resource: configmaps, name: cron, at: /data/port, is: "3199"}
  - kube.await: {resource: configmaps, name: inside, at: /data/port, is: "9999"}
win:
  probes: {x: {uses: kube/get, with: {resource: configmaps, name: outside}}}
  all: [facts.x.exists]
`

const writersObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: outside}
data: {port: "9090", other: kept}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cron}
data: {port: "3100"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inside}
data: {port: "3000"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: scrape-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: node-audit}
rules: []
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: config-audit}
spec:
  schedule: "@every 2s"
  jobTemplate:
    spec:
      ttlSecondsAfterFinished: 0
      template:
        spec:
          restartPolicy: Never
          serviceAccountName: config-audit
          containers:
            - {name: audit, image: "tools:1", command: [kubectl, patch, configmap, cron, --type=merge, -p, '{"data":{"port":"3199"}}']}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: reconciler}
spec:
  replicas: 1
  selector: {matchLabels: {app: reconciler}}
  template:
    metadata: {labels: {app: reconciler}}
    spec:
      serviceAccountName: config-audit
      containers:
        - {name: loop, image: "tools:1", command: [every, 200ms, kubectl, patch, configmap/inside, --type=merge, -p, '{"data":{"port":"9999"}}']}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: prometheus}
spec:
  replicas: 1
  selector: {matchLabels: {app: prometheus}}
  template:
    metadata: {labels: {app: prometheus}}
    spec:
      containers:
        - {name: prometheus, image: "prometheus:3", ports: [{name: web, containerPort: 9090}], readinessProbe: {httpGet: {path: /-/healthz, port: web}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 20
  template:
    spec:
      restartPolicy: OnFailure
      initContainers: [{name: wait, image: "tools:1", command: ["true"]}]
      containers: [{name: migrate, image: "registry.example/team/migrate:2"}]
`

func parseWriters(t *testing.T, src string) (*drills.Drill, error) {
	t.Helper()
	answers, err := os.ReadFile("library/orphan-hook.answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"library/writers.answers.yaml": {Data: answers},
		"library/writers.objects.yaml": {Data: []byte(writersObjects)},
	}
	return drills.Parse("library/writers.yaml", []byte(src), files, catalog.New())
}

// TestWritersRefuses changes one place of that drill and wants the problem named.
func TestWritersRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, from, to, want string }{
		{"resource of an account", "writes: [serviceaccounts, roles", "writes: [secrets, roles", `resource cannot be "secrets"`},
		{"account", "name: health-monitor, writes", "name: Health, writes", `name "Health" must match`},
		{"image", "prometheus: {port: 9090", "prometheus: {port: 99999", "port"},
		{"key of an image", "migrate: {run:", "migrate: {runs:", `an image has no key "runs" (did you mean "run"?)`},
		{"operation", "[CREATE, UPDATE]", "[CREATE, DELETE]", `operation cannot be "DELETE"`},
		{"pointer", "{/roleRef/name: node-audit}", "{roleRef.name: node-audit}", `"roleRef.name" is not a JSON pointer`},
		{"tick", "every: 200ms", "every: 0s", "every must be a duration above zero"},
		{"what a unit writes", "resource: configmaps, name: outside, patch", "resource: nodes, name: outside, patch", `resource cannot be "nodes"`},
		{"what is awaited", `at: /data/port, is: "9999"}`, `at: data.port, is: "9999"}`, `at "data.port" must match`},
		{"nothing awaited", `at: /data/port, is: "9999"}`, `at: /data/port}`, "is is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(writersDrill, tc.from, tc.to, 1)
			if bad == writersDrill {
				t.Fatalf("%q is not in the drill", tc.from)
			}
			if _, err := parseWriters(t, bad); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() = %v, want %q", err, tc.want)
			}
		})
	}
}

func writersScene(t *testing.T) drills.Scene {
	t.Helper()
	d, err := parseWriters(t, writersDrill)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Scene("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// caller sends requests with the rights of a kubeconfig.
type caller struct {
	t      *testing.T
	host   string
	client *http.Client
}

func callerOf(t *testing.T, kubeconfig string) caller {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return caller{t, cfg.Host, client}
}

func (c caller) do(method, path, media, body string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	res, err := c.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// text is one field of an object, "" where it is not there.
func (c caller) text(path string, field ...string) string {
	c.t.Helper()
	code, raw := c.do(http.MethodGet, path, "", "")
	if code != http.StatusOK {
		return ""
	}
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		c.t.Fatal(err)
	}
	for _, f := range field {
		switch in := v.(type) {
		case map[string]any:
			v = in[f]
		case []any:
			i, err := strconv.Atoi(f)
			if err != nil || i >= len(in) {
				return ""
			}
			v = in[i]
		}
	}
	s, _ := v.(string)
	return s
}

// TestWriters starts two drills at once in which every sort of writer works, undoes
// what one of them does, and ends it: nothing of it is left, and the other has
// seen nothing of it.
func TestWriters(t *testing.T) {
	t.Parallel()
	o, c := world(t)
	p, _ := world(t)
	r, err := drills.Start(t.Context(), o, writersScene(t))
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			stop(t, o, r)
		}
	}()
	twin, err := drills.Start(t.Context(), p, writersScene(t))
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, p, twin)
	k, other := keptOf(t, o, r.ID()), keptOf(t, p, twin.ID())
	ns := k.Namespace.Name
	operator := callerOf(t, r.Env(c.Env).Kubeconfig)
	configmap := func(name string) string { return "/api/v1/namespaces/" + ns + "/configmaps/" + name }

	// Each writer gives back what it wants, and leaves the rest.
	for name, value := range map[string]string{"outside": "9099", "cron": "3199", "inside": "9999"} {
		code, raw := operator.do(http.MethodPatch, configmap(name), "application/merge-patch+json", `{"data":{"port":"1","mine":"stays"}}`)
		if code != http.StatusOK {
			t.Fatalf("the operator cannot write %s: %s", name, raw)
		}
		until(t, name+" is undone", func() bool { return operator.text(configmap(name), "data", "port") == value })
		if got := operator.text(configmap(name), "data", "mine"); got != "stays" {
			t.Errorf("the rest of %s is %q", name, got)
		}
	}

	// The webhook rewrites on the way in: the answer to the create itself has another role.
	bindings := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns + "/rolebindings"
	bind := func(name string) string {
		_, raw := operator.do(http.MethodPost, bindings, "application/json", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"scrape-reader"}}`)
		var b struct{ RoleRef struct{ Name string } }
		if err := json.Unmarshal([]byte(raw), &b); err != nil {
			t.Fatal(err)
		}
		return b.RoleRef.Name
	}
	until(t, "the API server asks the webhook", func() bool {
		operator.do(http.MethodDelete, bindings+"/monitoring-first", "", "")
		return bind("monitoring-first") == "node-audit"
	})
	if got := bind("dashboards"); got != "scrape-reader" {
		t.Errorf("a binding that the webhook is not about names %q", got)
	}
	hooks := "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"
	if code, raw := operator.do(http.MethodDelete, hooks+"rbac-policy-enforcer."+other.Namespace.Name, "", ""); code != http.StatusForbidden {
		t.Errorf("the operator may delete the webhook of another drill: %d %s", code, raw)
	}
	if code, raw := operator.do(http.MethodDelete, hooks+"rbac-policy-enforcer."+ns, "", ""); code != http.StatusOK {
		t.Errorf("the operator cannot delete the webhook: %d %s", code, raw)
	}
	until(t, "the webhook is gone", func() bool {
		operator.do(http.MethodDelete, bindings+"/monitoring-second", "", "")
		return bind("monitoring-second") == "scrape-reader"
	})

	containersAreReal(t, operator, ns)

	// The program outside of the cluster lives while one of its two files is there.
	root := filepath.Join(o.State, "drills", "writers", "node", "root")
	pid := func() string {
		raw, err := os.ReadFile(filepath.Join(root, "opt", ".k8s-health-monitor", "pid"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if title, err := os.ReadFile("/proc/" + pid() + "/cmdline"); err == nil && strings.Trim(string(title), "\x00") != "[kworker/u8:2]" {
		t.Errorf("ps shows it as %q", title)
	}
	if err := os.Remove(filepath.Join(root, "etc", "systemd", "system", "k8s-health-monitor.service")); err != nil {
		t.Fatal(err)
	}
	operator.do(http.MethodPatch, configmap("outside"), "application/merge-patch+json", `{"data":{"port":"2"}}`)
	until(t, "its entry of cron keeps it", func() bool { return operator.text(configmap("outside"), "data", "port") == "9099" })
	last := pid()
	if err := os.Remove(filepath.Join(root, "etc", "cron.d", "k8s-health-monitor")); err != nil {
		t.Fatal(err)
	}
	until(t, "it ends", func() bool { return ended(last) })

	stop(t, o, r)
	stopped = true
	gone(t, o, ns)
	admin := callerOf(t, o.Lab.Kubeconfig())
	for _, path := range []string{hooks + "rbac-policy-enforcer." + ns, "/api/v1/nodes/" + ns + "-node"} {
		if code, _ := admin.do(http.MethodGet, path, "", ""); code != http.StatusNotFound {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range []string{hooks + "rbac-policy-enforcer." + other.Namespace.Name, "/api/v1/nodes/" + other.Namespace.Name + "-node"} {
		if code, _ := admin.do(http.MethodGet, path, "", ""); code != http.StatusOK {
			t.Errorf("%s of the other drill went too", path)
		}
	}
}

// containersAreReal wants Pods as a kubelet shows them: what failed with its code
// and its last words, what is not ready with the reason.
func containersAreReal(t *testing.T, operator caller, ns string) {
	t.Helper()
	pods := "/api/v1/namespaces/" + ns + "/pods"
	podOf := func(label string) string {
		var name string
		until(t, "a pod of "+label, func() bool {
			name = operator.text(pods+"?labelSelector="+label, "items", "0", "metadata", "name")
			return name != ""
		})
		return pods + "/" + name
	}
	migrate := podOf("job-name%3Dmigrate")
	until(t, "migrate failed and was started again", func() bool {
		return operator.text(migrate, "status", "containerStatuses", "0", "state", "waiting", "reason") == "CrashLoopBackOff" &&
			operator.text(migrate, "status", "initContainerStatuses", "0", "state", "terminated", "reason") == "Completed"
	})
	for _, query := range []string{"?previous=true", "?tailLines=2&container=migrate"} {
		code, log := operator.do(http.MethodGet, migrate+"/log"+query, "", "")
		if code != http.StatusOK || !strings.HasSuffix(log, "applying 41\npq: relation \"tariffs\" does not exist\n") {
			t.Errorf("log%s: %d %q", query, code, log)
		}
	}
	prometheus := podOf("app%3Dprometheus")
	until(t, "prometheus runs", func() bool { return operator.text(prometheus, "status", "phase") == "Running" })
	if got := operator.text("/apis/apps/v1/namespaces/"+ns+"/deployments/prometheus", "status", "readyReplicas"); got != "" {
		t.Errorf("prometheus is ready: %s", got)
	}
	until(t, "an event says why it is not ready", func() bool {
		_, raw := operator.do(http.MethodGet, "/api/v1/namespaces/"+ns+"/events?fieldSelector=reason%3DUnhealthy", "", "")
		return strings.Contains(raw, "HTTP probe failed with statuscode: 404")
	})
	operator.do(http.MethodDelete, prometheus, "", "")
	until(t, "a pod that was deleted goes", func() bool {
		code, _ := operator.do(http.MethodGet, prometheus, "", "")
		return code == http.StatusNotFound
	})
}

// ended reports whether no process has this number any more.
func ended(pid string) bool {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || bytes.Contains(raw, []byte(") Z "))
}
