package kube

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// kubelet serves logs as one of a node does, so that the way of a log through
// the real API server can be gone without a node.
type kubelet struct {
	node string
	logs map[string]string // by pod/container, with "?previous" behind it
}

// kubelet makes a node whose kubelet is this process.
func (w *keepersWorld) kubelet() *kubelet {
	w.t.Helper()
	k := &kubelet{node: "node-" + w.ns, logs: map[string]string{}}
	s := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		parts := strings.Split(r.URL.Path, "/") // /containerLogs/ns/pod/container
		if len(parts) != 5 || parts[1] != "containerLogs" || parts[2] != w.ns {
			http.NotFound(rw, r)
			return
		}
		key := parts[3] + "/" + parts[4]
		if r.URL.Query().Get("previous") == "true" {
			key += "?previous"
		}
		text, there := k.logs[key]
		if !there {
			http.Error(rw, "previous terminated container not found", http.StatusBadRequest)
			return
		}
		n, _ := strconv.Atoi(r.URL.Query().Get("tailLines"))
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-n):] {
			if text != "" {
				_, _ = io.WriteString(rw, "2026-11-22T02:14:00.123456789Z "+line+"\n")
			}
		}
	}))
	w.t.Cleanup(s.Close)
	at, err := url.Parse(s.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		w.t.Fatal(err)
	}
	w.create("/api/v1/nodes", fields{"metadata": fields{"name": k.node}})
	w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, "/api/v1/nodes/"+k.node, "", fields{}) })
	w.merge("/api/v1/nodes/"+k.node+"/status", fields{"status": fields{
		"addresses":       []fields{{"type": "InternalIP", "address": "127.0.0.1"}},
		"daemonEndpoints": fields{"kubeletEndpoint": fields{"Port": port}}}})
	return k
}

// spec is a Pod with these init containers and one main one.
func podSpec(node string, inits ...string) fields {
	s := fields{"containers": []fields{{"name": "app", "image": "example.com/app:1"}}, "terminationGracePeriodSeconds": 0}
	if node != "" {
		s["nodeName"] = node
		// The node never says that it is ready, and a Pod without this is evicted from it after five minutes.
		s["tolerations"] = []fields{{"operator": "Exists"}}
	}
	var list []fields
	for _, name := range inits {
		list = append(list, fields{"name": name, "image": "example.com/wait:1"})
	}
	if list != nil {
		s["initContainers"] = list
	}
	return s
}

func (w *keepersWorld) deployment(name string, replicas int, spec fields) fields {
	w.t.Helper()
	labels := fields{"app": name}
	return w.create(w.in(appsV1, "deployments", ""), fields{"metadata": fields{"name": name}, "spec": fields{"replicas": replicas, "selector": fields{"matchLabels": labels},
		"template": fields{"metadata": fields{"labels": labels}, "spec": spec}}})
}

// podOf waits for the one Pod of an app, and until its Deployment, where it has one, tells of it.
func (w *keepersWorld) podOf(app string) fields {
	w.t.Helper()
	var pod fields
	w.until("the pod of "+app, func() bool {
		list := w.read(w.in("", "pods", "") + "?labelSelector=" + url.QueryEscape("app="+app))["items"].([]any)
		if len(list) == 0 {
			return false
		}
		pod = list[0].(fields)
		_, d, _ := w.try(http.MethodGet, w.in(appsV1, "deployments", app), "", nil)
		meta, _ := d["metadata"].(fields)
		status, _ := d["status"].(fields)
		return d["kind"] != "Deployment" || status["observedGeneration"] == meta["generation"]
	})
	return pod
}

func podName(pod fields) string { return pod["metadata"].(fields)["name"].(string) }

// said sets the status of a Pod as a kubelet would.
func (w *keepersWorld) podStatus(pod string, status fields) {
	w.t.Helper()
	w.merge(w.in("", "pods", pod)+"/status", fields{"status": status})
}

func terminated(code int, reason string) fields {
	at := time.Now().UTC().Format(time.RFC3339)
	return fields{"terminated": fields{"exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at, "containerID": "x://1"}}
}

func containerIs(name string, restarts int, state, last fields) fields {
	s := fields{"name": name, "image": "i", "imageID": "i", "restartCount": restarts, "ready": false, "state": state}
	if last != nil {
		s["lastState"] = last
	}
	return s
}

var scheduledTrue = []fields{{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "False", "reason": "ContainersNotInitialized"}}

// TestWorkloadInitChain: three init containers, the second waits for a name that
// does not resolve; the third has not said anything yet.
func TestWorkloadInitChain(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	k := w.kubelet()
	w.deployment("shop", 1, podSpec(k.node, "wait-redis", "wait-mongo", "wait-amqp"))
	pod := podName(w.podOf("shop"))
	k.logs[pod+"/wait-mongo?previous"] = "waiting for mongo\ndial tcp: lookup mongo on 10.43.0.10:53: no such host\n"
	k.logs[pod+"/wait-redis"] = "redis is there\n"
	w.podStatus(pod, fields{"phase": "Pending", "conditions": scheduledTrue, "initContainerStatuses": []fields{
		containerIs("wait-redis", 0, terminated(0, "Completed"), nil),
		containerIs("wait-mongo", 4, fields{"waiting": fields{"reason": "CrashLoopBackOff", "message": "back-off 40s"}}, terminated(1, "Error")),
		containerIs("wait-amqp", 0, fields{"waiting": fields{"reason": "PodInitializing"}}, nil)}})
	for _, what := range []struct{ resource, name string }{{"deployment", "shop"}, {"pod", pod}} {
		obs := w.probe(w.env, "kube/workload", what.resource, what.name)
		for fact, want := range map[string]string{"exists": "true", "wanted": "1", "ready": "0", "rollout": "progressing", "stage": "init", "pod": pod,
			"failing": "wait-mongo", "init_done": "1", "init_total": "3", "restarts": "4", "reason": "CrashLoopBackOff", "layer": "dns",
			"line": "dial tcp: lookup mongo on 10.43.0.10:53: no such host", "refused_by": ""} {
			wantFact(t, obs, fact, want)
		}
		wantFinding(t, obs, "Init:1/3")
		wantFinding(t, obs, "The name did not resolve")
	}
	obs := w.probe(w.env, "kube/logs", "deployment", "shop", "container", "wait-redis")
	wantFact(t, obs, "count", "1")
	wantFact(t, obs, "layer", "other")
	// The instance before is named only where there is one.
	if obs, err := (probeOf("kube/logs", w.env)).Probe(t.Context(), steps.Params{"resource": steps.StringOf("deployment"), "name": steps.StringOf("shop"),
		"container": steps.StringOf("wait-redis"), "previous": steps.BoolOf(true)}, steps.SecretsOnly(nil)); err == nil {
		t.Errorf("the log of an instance that never was = %+v", obs)
	}
	// Without the right to read logs the stage stays, and the layer is unknown.
	blind := w.limited("blind", may("apps", "deployments", "get"), may("apps", "replicasets", "list"), may("", "pods", "list"))
	obs = w.probe(blind, "kube/workload", "deployment", "shop")
	wantFact(t, obs, "stage", "init")
	wantFact(t, obs, "layer", "?permission denied")
	// Without the Pods it stays open what holds it, and how far it is does not.
	deaf := w.limited("deaf", may("apps", "deployments", "get"))
	obs = w.probe(deaf, "kube/workload", "deployment", "shop")
	wantFact(t, obs, "rollout", "progressing")
	wantFact(t, obs, "stage", "?permission denied")
	wantFact(t, obs, "refused_by", "?permission denied")
	wantFact(t, w.probe(w.env, "kube/workload", "deployment", "nobody"), "stage", "?not there")
}

// TestWorkloadTerminationMessage: where the log cannot be had, what the kubelet
// kept of it is read.
func TestWorkloadTerminationMessage(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": "one"}, "spec": podSpec("")})
	wantFact(t, w.probe(w.env, "kube/workload", "pod", "one"), "stage", "scheduling")
	wantFact(t, w.probe(w.env, "kube/workload", "pod", "one"), "layer", "none")
	last := terminated(2, "Error")
	last["terminated"].(fields)["message"] = "password authentication failed for user \"shop\"\n"
	w.create(w.in("", "pods", "one")+"/binding", fields{"metadata": fields{"name": "one"}, "target": fields{"kind": "Node", "name": "nowhere"}})
	w.podStatus("one", fields{"phase": "Running", "containerStatuses": []fields{
		containerIs("app", 3, fields{"waiting": fields{"reason": "CrashLoopBackOff"}}, last)}})
	obs := w.probe(w.env, "kube/workload", "pod", "one")
	wantFact(t, obs, "stage", "crash")
	wantFact(t, obs, "layer", "auth")
	wantFact(t, obs, "restarts", "3")
	if len(obs.Gaps) == 0 || !strings.Contains(strings.Join(obs.Gaps, " "), "termination message") {
		t.Errorf("gaps %q, want one that says where the layer comes from", obs.Gaps)
	}
}

// TestWorkloadRefused: the controllers of the lab run into a real quota, and say
// so in three places.
func TestWorkloadRefused(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "resourcequotas", ""), fields{"metadata": fields{"name": "hardening"}, "spec": fields{"hard": fields{"pods": "0"}}})
	w.until("the quota counts", func() bool {
		return w.read(w.in("", "resourcequotas", "hardening"))["status"].(fields)["hard"] != nil
	})
	w.deployment("web", 1, podSpec(""))
	w.create(w.in(batchV1, "jobs", ""), fields{"metadata": fields{"name": "migrate"}, "spec": fields{"template": fields{"spec": fields{"restartPolicy": "Never",
		"containers": []fields{{"name": "c", "image": "example.com/x:1"}}}}}})
	for resource, name := range map[string]string{"deployments": "web", "jobs": "migrate"} {
		var obs steps.Observation
		w.until("the refusal of "+name, func() bool {
			obs = w.probe(w.env, "kube/workload", resource, name)
			return obs.Facts["stage"].Known()
		})
		wantFact(t, obs, "stage", "refused")
		wantFact(t, obs, "refused_by", "quota")
		wantFact(t, obs, "layer", "none")
		wantFinding(t, obs, "refused by quota hardening")
		wantFinding(t, obs, "never deleted")
	}
	events := w.probe(w.env, "kube/events", "jobs", "migrate")
	if v := events.Facts["stuck"]; len(v.Strings()) == 0 || !strings.Contains(v.Strings()[0], "exceeded quota: hardening") {
		t.Errorf("stuck = %v", v.Text())
	}
	wantFact(t, events, "former", "0")
	if !strings.Contains(events.Facts["reasons"].Text(), "FailedCreate=") {
		t.Errorf("reasons = %s", events.Facts["reasons"].Text())
	}
	in := steps.Params{"namespace": steps.StringOf(w.ns)}
	whole, err := readsProbe(t.Context(), w.env, "kube/events", in, newReadsSink())
	if err != nil || whole.Facts["count"].Int() < events.Facts["count"].Int() {
		t.Errorf("events of the namespace = %v, %v", whole.Facts["count"].Text(), err)
	}
	if _, err := readsProbe(t.Context(), w.env, "kube/events", steps.Params{"resource": steps.StringOf("job")}, newReadsSink()); err == nil {
		t.Error("events of a resource without a name were read")
	}
}

// TestWorkloadFailedBefore: a Job that failed says why after its Pods are gone, and nothing
// points at its controller.
func TestWorkloadFailedBefore(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in(batchV1, "jobs", ""), fields{"metadata": fields{"name": "migrate"}, "spec": fields{"activeDeadlineSeconds": 1, "template": fields{"spec": fields{"restartPolicy": "Never",
		"containers": []fields{{"name": "c", "image": "example.com/x:1"}}}}}})
	var obs steps.Observation
	w.until("the Job failed and its Pod is gone", func() bool {
		obs = w.probe(w.env, "kube/workload", "jobs", "migrate")
		return obs.Facts["rollout"].Text() == "failed" && obs.Facts["pod"].Known() && obs.Facts["pod"].Text() == ""
	})
	wantFact(t, obs, "reason", "DeadlineExceeded")
	wantFact(t, obs, "message", "Job was active longer than specified deadline")
	wantFinding(t, obs, "failed (DeadlineExceeded: Job was active longer than specified deadline), and its Pods are gone")
	if obs.Facts["stage"].Known() || !strings.HasSuffix(obs.Summary, "0 of 1 ready, failed (DeadlineExceeded).") {
		t.Errorf("stage %q, %q", obs.Facts["stage"].Text(), obs.Summary)
	}
	for _, f := range obs.Findings {
		if strings.Contains(f.Say, "controller") {
			t.Errorf("it says: %s", f.Say)
		}
	}
}

func TestWorkloadIsNone(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	for resource, want := range map[string]string{"configmap": "is not a workload", "cronjob": "name the Job"} {
		_, err := (probeOf("kube/workload", w.env)).Probe(t.Context(), steps.Params{"resource": steps.StringOf(resource), "name": steps.StringOf("x")}, steps.SecretsOnly(nil))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", resource, err, want)
		}
	}
	_, err := (probeOf("kube/logs", w.env)).Probe(t.Context(), steps.Params{"resource": steps.StringOf("pod"), "name": steps.StringOf("x"), "lines": steps.IntOf(5000 + 1)}, steps.SecretsOnly(nil))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(5000)) {
		t.Errorf("too many lines: %v", err)
	}
}
