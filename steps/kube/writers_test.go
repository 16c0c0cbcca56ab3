package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
)

const admissionV1 = "/apis/admissionregistration.k8s.io/v1/"

// wantLine wants a line of a list that begins so and holds every part.
func wantLine(t *testing.T, obs steps.Observation, fact, begin string, parts ...string) {
	t.Helper()
	v := obs.Facts[fact]
	i := slices.IndexFunc(v.Strings(), func(s string) bool { return strings.HasPrefix(s, begin) })
	if i < 0 {
		t.Errorf("%s = %s (%s), want a line that begins with %q", fact, v.Text(), v.Why(), begin)
		return
	}
	for _, part := range parts {
		if !strings.Contains(v.Strings()[i], part) {
			t.Errorf("%s has %q, want %q in it", fact, v.Strings()[i], part)
		}
	}
}

func wantNoLine(t *testing.T, obs steps.Observation, fact, part string) {
	t.Helper()
	for _, s := range obs.Facts[fact].Strings() {
		if strings.Contains(s, part) {
			t.Errorf("%s has %q, want nothing of %q", fact, s, part)
		}
	}
}

// account makes a service account, with the rights of rules where there are any.
func (w *keepersWorld) account(name string, rules ...fields) {
	w.t.Helper()
	w.create(w.in("", "serviceaccounts", ""), fields{"metadata": fields{"name": name}})
	if len(rules) == 0 {
		return
	}
	w.create(w.in("rbac.authorization.k8s.io/v1", "roles", ""), fields{"metadata": fields{"name": name}, "rules": rules})
	w.create(w.in("rbac.authorization.k8s.io/v1", "rolebindings", ""), fields{"metadata": fields{"name": name},
		"subjects": []fields{{"kind": "ServiceAccount", "name": name, "namespace": w.ns}},
		"roleRef":  fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}})
}

func podAs(account string, command ...string) fields {
	return fields{"serviceAccountName": account, "restartPolicy": "Never", "containers": []fields{{"name": "c", "image": "registry.example.com/tools:1", "command": command}}}
}

// TestWriters enumerates real writers of a real object.
func TestWriters(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.web("web", "kubectl-create")
	w.create(w.in("", "configmaps", "")+asMan+"shop-sync", fields{"metadata": fields{"name": "settings", "labels": fields{"app": "shop"}}, "data": fields{"a": "b"}})
	w.account("auditor", fields{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "verbs": []string{"update"}, "resourceNames": []string{"settings"}})
	w.account("reader", may("", "configmaps", "get", "list"))
	w.account("other", fields{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "verbs": []string{"update"}, "resourceNames": []string{"else"}})
	w.account("scaler", may("apps", "deployments/scale", "update"))
	w.account("shop-sync", may("", "configmaps", "patch"))
	cron := func(name, account, schedule string, suspend bool) {
		w.create(w.in(batchV1, "cronjobs", ""), fields{"metadata": fields{"name": name}, "spec": fields{"schedule": schedule, "suspend": suspend,
			"jobTemplate": fields{"spec": fields{"template": fields{"spec": podAs(account, "kubectl", "apply", "-f", "/etc/audit")}}}}})
	}
	cron("config-audit", "auditor", "*/2 * * * *", true)
	cron("reports", "reader", "* * * * *", true)
	cron("elsewhere", "other", "* * * * *", true)
	w.create(w.in(appsV1, "deployments", ""), fields{"metadata": fields{"name": "shop-sync"}, "spec": fields{"replicas": 1, "selector": fields{"matchLabels": fields{"app": "sync"}},
		"template": fields{"metadata": fields{"labels": fields{"app": "sync"}}, "spec": fields{"serviceAccountName": "shop-sync", "containers": []fields{{"name": "c", "image": "sync:1"}}}}}})
	w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": "bare"}, "spec": podAs("auditor", "sleep")})
	w.until("the Pods of the Deployment", func() bool { return len(w.podsOf("sync")) > 0 })
	w.create(w.in("autoscaling/v2", "horizontalpodautoscalers", ""), fields{"metadata": fields{"name": "web"}, "spec": fields{"maxReplicas": 3,
		"scaleTargetRef": fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})
	hook := func(kind, name, resource string) {
		rule := fields{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"UPDATE"}, "resources": []string{resource}}
		w.create(admissionV1+kind, fields{"metadata": fields{"name": name + "-" + w.ns}, "webhooks": []fields{{"name": name + ".example.com", "sideEffects": "None", "failurePolicy": "Ignore",
			"timeoutSeconds": 1, "admissionReviewVersions": []string{"v1"}, "clientConfig": fields{"url": "https://127.0.0.1:1/" + name}, "rules": []fields{rule},
			"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": w.ns}}}}})
		w.removedAtEnd(admissionV1 + kind + "/" + name + "-" + w.ns)
	}
	hook("mutatingwebhookconfigurations", "rewriter", "configmaps")
	hook("mutatingwebhookconfigurations", "pods-only", "pods")
	hook("validatingwebhookconfigurations", "refuser", "configmaps")
	policy := w.policy("writers", `Object{metadata: Object.metadata{labels: {"seen": "yes"}}}`)

	obs := w.probe(w.root(), "kube/writers", "cm", "settings")
	wantFact(t, obs, "complete", "true")
	wantFact(t, obs, "unread", "[]")
	wantLine(t, obs, "mutating", "mutatingwebhookconfiguration/rewriter-"+w.ns+": rewriter.example.com on update", "calls https://127.0.0.1:1/rewriter")
	wantLine(t, obs, "mutating", "mutatingadmissionpolicy/"+policy+": bound by "+policy+" on create, update")
	wantNoLine(t, obs, "mutating", "pods-only")
	wantLine(t, obs, "validating", "validatingwebhookconfiguration/refuser-"+w.ns)
	wantLine(t, obs, "accounts", "serviceaccount/"+w.ns+"/auditor: may update by rolebinding/"+w.ns+"/auditor of role/"+w.ns+"/auditor")
	wantNoLine(t, obs, "accounts", "/reader")
	wantNoLine(t, obs, "accounts", "/other")
	wantLine(t, obs, "workloads", "cronjob/"+w.ns+"/config-audit: as serviceaccount/"+w.ns+"/auditor, at */2 * * * *", "suspended", "kubectl apply -f /etc/audit")
	wantLine(t, obs, "workloads", "pod/"+w.ns+"/bare: ")
	wantLine(t, obs, "workloads", "deployment/"+w.ns+"/shop-sync: ")
	wantNoLine(t, obs, "workloads", "replicaset/")
	wantNoLine(t, obs, "workloads", "pod/"+w.ns+"/shop-sync")
	wantNoLine(t, obs, "workloads", "reports")
	wantLine(t, obs, "suspects", "deployment/"+w.ns+"/shop-sync: the books name shop-sync (update, 20")
	wantLine(t, obs, "suspects", "mutatingwebhookconfiguration/rewriter-")
	if first := obs.Facts["suspects"].Strings()[0]; !strings.HasPrefix(first, "mutating") {
		t.Errorf("the first suspect is %q, want what sees every request", first)
	}
	w.send(http.MethodPatch, w.in(batchV1, "cronjobs", "config-audit"), "application/merge-patch+json", fields{"spec": fields{"suspend": false, "schedule": "* * 30 2 *"}})
	obs = w.probe(w.root(), "kube/writers", "cm", "settings")
	wantLine(t, obs, "suspects", "cronjob/"+w.ns+"/config-audit")

	// Its scale is written by others than the object.
	obs = w.probe(w.root(), "kube/writers", "deploy", "web")
	wantLine(t, obs, "controllers", "horizontalpodautoscaler/"+w.ns+"/web (paused: no)")
	wantLine(t, obs, "accounts", "serviceaccount/"+w.ns+"/scaler: may update/scale")
	wantNoLine(t, obs, "mutating", "rewriter")

	// What may not be read is unknown, and named.
	obs = w.probe(w.env, "kube/writers", "cm", "settings")
	wantFact(t, obs, "complete", "?")
	wantFact(t, obs, "mutating", "?permission denied")
	wantFact(t, obs, "accounts", "?permission denied")
	wantFact(t, obs, "controllers", "[]")
	wantLine(t, obs, "unread", "mutatingwebhookconfigurations: permission denied")
	wantGap(t, obs, "clusterroles")

	// What configures admission can always be repaired.
	obs = w.probe(w.root(), "kube/writers", "mutatingwebhookconfigurations", "rewriter-"+w.ns)
	wantFact(t, obs, "mutating", "[]")
	wantFact(t, obs, "complete", "true")
}

// TestWritersOfAll: a right of everybody is no list of suspects.
func TestWritersOfAll(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "open"}})
	w.create(w.in("rbac.authorization.k8s.io/v1", "rolebindings", ""), fields{"metadata": fields{"name": "open"},
		"subjects": []fields{{"kind": "Group", "name": "system:serviceaccounts", "apiGroup": "rbac.authorization.k8s.io"}},
		"roleRef":  fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}})
	w.create(w.in("rbac.authorization.k8s.io/v1", "rolebindings", ""), fields{"metadata": fields{"name": "lost"},
		"subjects": []fields{{"kind": "ServiceAccount", "name": "x", "namespace": w.ns}},
		"roleRef":  fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "no-such-role"}})
	obs := w.probe(w.root(), "kube/writers", "cm", "open")
	wantFact(t, obs, "workloads", "?all of the cluster may")
	wantFinding(t, obs, "All accounts of the cluster may write")
	wantFinding(t, obs, "rolebinding/"+w.ns+"/lost names role/"+w.ns+"/no-such-role, which is not there")
	obs = w.probe(w.root(), "kube/writers", "cm", "gone")
	if !strings.Contains(obs.Summary, "which is not there") {
		t.Errorf("summary = %q", obs.Summary)
	}
}
