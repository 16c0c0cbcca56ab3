package kube

import (
	"net/http"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// TestWorkloadFaults spoils each answer that the probes of workloads get.
func TestWorkloadFaults(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	k := w.kubelet()
	pod := w.ailing(k)
	w.refusing()
	w.starving()
	w.unheard()
	hook := "guard." + w.ns + ".example.com"
	w.hookConfig(validatingHooks, "guard-"+w.ns, w.hookEntry(hook, "Fail", fields{"service": fields{"namespace": w.ns, "name": "web"}}))
	of := func(resource, name string, more ...string) steps.Params {
		return what(append([]string{"resource", resource, "name", name, "namespace", w.ns}, more...)...)
	}
	w.revision("shop", 1, "deployed")
	w.revision("shop", 2, "pending-upgrade")
	w.definitions()
	w.external("brought", fields{"status": "False", "reason": "SecretSyncedError"}, time.Now())
	space := what("namespace", w.ns)
	// The bytes of a log are anything, and it says nothing of its length.
	log := map[string][]string{"/log": {"half of it", "an empty thing", "another thing", "no JSON", "nothing at all", "null"}}
	rows := []faultCase{
		{name: "workload", kind: "kube/workload", in: of("deployment", "shop"), excused: log},
		{name: "workload of a Pod", kind: "kube/workload", in: of("pod", pod), excused: log},
		{name: "workload that is held", kind: "kube/workload", in: of("pod", "mounting")},
		{name: "workload that is unscheduled", kind: "kube/workload", in: of("pod", "waiting")},
		{name: "workload that is refused", kind: "kube/workload", in: of("job", "migrate")},
		{name: "workload that is not there", kind: "kube/workload", in: of("deployment", "gone")},
		{name: "logs", kind: "kube/logs", in: of("deployment", "shop"), excused: log},
		{name: "events", kind: "kube/events", in: of("job", "migrate")},
		{name: "timeline", kind: "kube/timeline", in: what("namespace", w.ns)},
		{name: "quota", kind: "kube/quota", in: space},
		{name: "release", kind: "kube/helm-release", in: what("namespace", w.ns, "release", "shop")},
		{name: "claims", kind: "kube/claims", in: space},
		{name: "endpoints", kind: "kube/endpoints", in: what("namespace", w.ns, "service", "web")},
		{name: "endpoints without Pods", kind: "kube/endpoints", in: what("namespace", w.ns, "service", "idle")},
		{name: "webhook", kind: "kube/webhook", in: what("webhook", hook)},
		{name: "admission", kind: "kube/admission", in: of("cm", "settings", "operation", "update")},
		{name: "admission of a webhook", kind: "kube/admission", in: what("webhook", hook)},
		{name: "dry run", kind: "kube/dry-run", in: of("cm", "settings", "operation", "update", "peer", "settings")},
		{name: "field", kind: "kube/field", in: of("cm", "settings", "field", "data.mode")},
		{name: "services", kind: "kube/services", in: what("namespace", w.ns, "services", "web idle")},
		{name: "images", kind: "kube/images", in: what("namespace", w.ns, "image", "example.com/app:1", "expected", "sha256:"+sixty4)},
		{name: "rotation", kind: "kube/rotation", in: of("deployment", "shop")},
		{name: "delivery", kind: "kube/delivery", in: what("namespace", w.ns, "secret", "db")},
		{name: "delivery by a controller", kind: "kube/delivery", in: what("namespace", w.ns, "secret", "brought")},
		{name: "egress", kind: "kube/egress", in: of("deployment", "shop", "to", "service/db")},
		{name: "may", kind: "kube/may", in: what("namespace", w.ns, "account", "runner", "verb", "create", "resource", "jobs")},
		{name: "may not", kind: "kube/may", in: what("namespace", w.ns, "account", "lost", "verb", "create", "resource", "jobs")},
	}
	w.spoilAll("TestWorkloadFaults", rows)
}

// ailing makes a workload whose init container waits for a name that does not
// resolve, and which took values that changed since.
func (w *keepersWorld) ailing(k *kubelet) (pod string) {
	w.t.Helper()
	w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "db"}, "stringData": fields{"password": "first"}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "settings"}, "data": fields{"mode": "a"}})
	spec := podSpec(k.node, "wait-redis", "wait-mongo")
	spec["containers"] = []fields{{"name": "app", "image": "example.com/app:1", "envFrom": []fields{{"configMapRef": fields{"name": "nothing"}}},
		"env": []fields{{"name": "PASSWORD", "valueFrom": fields{"secretKeyRef": fields{"name": "db", "key": "password"}}},
			{"name": "MODE", "valueFrom": fields{"configMapKeyRef": fields{"name": "settings", "key": "mode"}}}}}}
	w.deployment("shop", 1, spec)
	pod = podName(w.podOf("shop"))
	k.logs[pod+"/wait-mongo?previous"] = "waiting for mongo\ndial tcp: lookup mongo on 10.43.0.10:53: no such host\n"
	k.logs[pod+"/wait-mongo"] = "dial tcp 10.0.0.1:27017: connect: connection refused\n"
	started := fields{"running": fields{"startedAt": time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)}}
	w.podStatus(pod, fields{"phase": "Pending", "conditions": scheduledTrue, "containerStatuses": []fields{containerIs("app", 0, started, nil)},
		"initContainerStatuses": []fields{
			containerIs("wait-redis", 0, terminated(0, "Completed"), nil),
			containerIs("wait-mongo", 4, fields{"waiting": fields{"reason": "CrashLoopBackOff", "message": "back-off 40s"}}, terminated(1, "Error"))}})
	w.merge(w.in(appsV1, "deployments", "shop"), fields{"spec": fields{"paused": true}})
	return pod
}

// refusing lets a quota refuse what comes after it, and waits until an event says
// so.
func (w *keepersWorld) refusing() {
	w.t.Helper()
	for _, name := range []string{"mounting", "waiting"} {
		w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": name, "labels": fields{"app": "web"}}, "spec": podSpec("")})
	}
	w.create(w.in("", "pods", "mounting")+"/binding", fields{"metadata": fields{"name": "mounting"}, "target": fields{"kind": "Node", "name": "nowhere"}})
	w.podStatus("mounting", fields{"phase": "Pending", "conditions": scheduledTrue, "containerStatuses": []fields{
		containerIs("app", 0, fields{"waiting": fields{"reason": "ContainerCreating"}}, nil)}})
	w.told("mounting", "FailedMount", `MountVolume.SetUp failed for volume "s": secret "gone" not found`)
	w.podStatus("waiting", fields{"phase": "Pending", "conditions": []fields{{"type": "PodScheduled", "status": "False"}}})
	w.told("waiting", "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu")
	w.create(w.in("", "resourcequotas", ""), fields{"metadata": fields{"name": "hardening"}, "spec": fields{"hard": fields{"pods": "0"}}})
	w.until("the quota counts", func() bool {
		return w.read(w.in("", "resourcequotas", "hardening"))["status"].(fields)["hard"] != nil
	})
	w.create(w.in(batchV1, "jobs", ""), fields{"metadata": fields{"name": "migrate"}, "spec": fields{"template": fields{"spec": fields{"restartPolicy": "Never",
		"containers": []fields{{"name": "c", "image": "example.com/x:1"}}}}}})
	w.until("the refusal", func() bool { return w.probe(w.env, "kube/workload", "jobs", "migrate").Facts["stage"].Known() })
}

// told makes an event of a Pod, as its kubelet or the scheduler would.
func (w *keepersWorld) told(pod, reason, message string) {
	w.t.Helper()
	uid := w.read(w.in("", "pods", pod))["metadata"].(fields)["uid"]
	at := time.Now().UTC().Format(time.RFC3339)
	w.create(w.in("", "events", ""), fields{"metadata": fields{"name": pod + ".1"}, "type": "Warning", "reason": reason, "message": message,
		"involvedObject": fields{"kind": "Pod", "namespace": w.ns, "name": pod, "uid": uid}, "firstTimestamp": at, "lastTimestamp": at, "count": 1})
}

// starving makes claims that stay unbound for different reasons.
func (w *keepersWorld) starving() {
	w.t.Helper()
	lazy := "lazy-" + w.ns
	classes := "/apis/storage.k8s.io/v1/storageclasses"
	w.create(classes, fields{"metadata": fields{"name": lazy}, "provisioner": "example.com/nobody", "volumeBindingMode": "WaitForFirstConsumer"})
	w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, classes+"/"+lazy, "", fields{}) })
	for name, class := range map[string]string{"gone": "gone-" + w.ns, "lazy": lazy, "none": ""} {
		w.create(w.in("", "persistentvolumeclaims", ""), fields{"metadata": fields{"name": name}, "spec": fields{"storageClassName": class,
			"accessModes": []string{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "1Gi"}}}})
	}
	w.until("the events of the claims", func() bool { return w.about("kube/claims").Facts["pending"].Known() })
}

// unheard makes Services, policies and rights that let something through and keep
// something else back.
func (w *keepersWorld) unheard() {
	w.t.Helper()
	for name, app := range map[string]string{"web": "web", "idle": "idle", "db": "db"} {
		w.create(w.in("", "services", ""), fields{"metadata": fields{"name": name}, "spec": fields{"selector": fields{"app": app}, "ports": []fields{{"port": 5432}}}})
	}
	const netv1 = "networking.k8s.io/v1"
	policy := func(name string, spec fields) {
		spec["podSelector"] = fields{}
		w.create(w.in(netv1, "networkpolicies", ""), fields{"metadata": fields{"name": name}, "spec": spec})
	}
	policy("deny", fields{"policyTypes": []string{"Egress", "Ingress"}})
	policy("dns", fields{"policyTypes": []string{"Egress"}, "egress": []fields{{
		"to":    []fields{{"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": "kube-system"}}}},
		"ports": []fields{{"protocol": "UDP", "port": 53}}}}})
	w.account("runner", may("batch", "jobs", "create"))
	w.create(w.in(rbacV1, "rolebindings", ""), fields{"metadata": fields{"name": "lost"},
		"subjects": []fields{{"kind": "ServiceAccount", "name": "lost", "namespace": w.ns}},
		"roleRef":  fields{"apiGroup": cluster.RBACGroup, "kind": "Role", "name": "gone"}})
	w.until("the endpoints", func() bool {
		return w.about("kube/endpoints", "service", "web").Facts["why"].Text() == "not_ready"
	})
}

// sixty4 are the digits of a digest that nothing has.
const sixty4 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
