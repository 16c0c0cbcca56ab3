package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	asMan = "?fieldManager="
)

// web creates a Deployment as a manager of that name.
func (w *keepersWorld) web(name, manager string) string {
	w.t.Helper()
	w.create(w.in(appsV1, "deployments", "")+asMan+manager, fields{"metadata": fields{"name": name, "labels": fields{"app": name}}, "spec": fields{
		"replicas": 0, "selector": fields{"matchLabels": fields{"app": name}}, "template": fields{"metadata": fields{"labels": fields{"app": name}},
			"spec": fields{"containers": []fields{{"name": "app", "image": "a:1", "resources": fields{}}}}}}})
	return w.in(appsV1, "deployments", name)
}

// aged waits until an object is old enough to be written anew: what follows its
// making at once still makes it.
func (w *keepersWorld) aged(at string) {
	w.t.Helper()
	born, err := time.Parse(time.RFC3339, w.read(at)["metadata"].(fields)["creationTimestamp"].(string))
	if err != nil {
		w.t.Fatal(err)
	}
	w.until("the age of "+at, func() bool { return time.Since(born) > 2*time.Second+time.Second })
}

// TestBlame asks the books of real objects.
func TestBlame(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.web("web", "kubectl-create")
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "images"}, "data": fields{"app": "a:2.1.0\n"}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "images-canary", "labels": fields{"role": "protected"}}, "data": fields{"all": "app=a:2.1.0,x"}})
	blame := func(resource, name, field string) steps.Observation {
		t.Helper()
		return w.probe(w.env, "kube/blame", resource, name, "field", field)
	}
	const image = "spec.template.spec.containers[name=app].image"
	obs := blame("deploy", "web", image)
	wantFact(t, obs, "verdict", "named")
	wantFact(t, obs, "writer", "kubectl-create")
	wantFact(t, obs, "operation", "update")
	wantFact(t, obs, "rewritten", "false") // a person's own change of a moment ago is none
	wantFact(t, obs, "present", "true")
	wantFact(t, obs, "others", "[]")
	wantFinding(t, obs, "audit log")

	w.aged(at)
	w.send(http.MethodPatch, at+asMan+"reconciler", "application/strategic-merge-patch+json", fields{"spec": fields{"template": fields{"spec": fields{
		"containers": []fields{{"name": "app", "image": "a:2.1.0"}}}}}})
	obs = blame("deploy", "web", image)
	wantFact(t, obs, "writer", "reconciler")
	wantFact(t, obs, "rewritten", "true")
	wantFact(t, obs, "inputs", `["configmap/`+w.ns+`/images: app" "configmap/`+w.ns+`/images-canary: all (protected: the label role=protected)"]`)
	wantFinding(t, obs, "derived state")
	wantFact(t, blame("deploy", "web", "spec.replicas"), "rewritten", "false")
	if got := obs.Facts["fields"].Table()[image]; !strings.Contains(got, "reconciler (update, 20") {
		t.Errorf("fields[%s] = %q", image, got)
	}

	// Selectors are owned as one whole, lists of arguments too, and an empty map is
	// not: that is for the server's description to say.
	obs = blame("deploy", "web", "spec.selector.matchLabels.app")
	wantFact(t, obs, "verdict", "named")
	wantFact(t, obs, "writer", "kubectl-create")
	wantFact(t, blame("deploy", "web", "spec.template.spec.containers[name=app].resources.limits.cpu"), "verdict", "cannot_tell")
	w.create(w.in("rbac.authorization.k8s.io/v1", "rolebindings", "")+asMan+"migration", fields{"metadata": fields{"name": "bind"},
		"roleRef": fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "no-role"}})
	obs = w.probe(w.root(), "kube/blame", "rolebinding", "bind", "field", "roleRef.name")
	wantFact(t, obs, "verdict", "named")
	wantFact(t, obs, "writer", "migration")
	wantFinding(t, obs, "one whole")

	// A removal leaves no author.
	w.send(http.MethodPatch, at+asMan+"remover", "application/merge-patch+json", fields{"metadata": fields{"labels": fields{"app": nil}}})
	obs = blame("deploy", "web", "metadata.labels.app")
	wantFact(t, obs, "verdict", "cannot_tell")
	wantFact(t, obs, "present", "false")
	wantFact(t, obs, "writer", "?removal leaves neither an author nor a time")

	// Two who apply one value share it.
	for _, m := range []string{"one", "two"} {
		w.send(http.MethodPatch, w.in("", "configmaps", "both")+asMan+m, "application/apply-patch+yaml",
			fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "both"}, "data": fields{"redis-host": "redis", m + ".conf": "x"}})
	}
	obs = blame("cm", "both", "data.redis-host")
	wantFact(t, obs, "verdict", "shared")
	wantFact(t, obs, "operation", "apply")
	wantFinding(t, obs, "restores its own value")
	obs = blame("cm", "both", "data.one.conf")
	wantFact(t, obs, "verdict", "named")
	wantFact(t, obs, "writer", "one")

	// kubectl scale leaves no time, and so the last writer is unknown.
	w.send(http.MethodPatch, at+"/scale"+asMan+"kubectl", "application/merge-patch+json", fields{"spec": fields{"replicas": 1}})
	obs = blame("deploy", "web", "spec.replicas")
	wantFact(t, obs, "writer", "kubectl")
	wantFinding(t, obs, "scale subresource")
	if obs.Facts["written"].Known() {
		wantFact(t, blame("deploy", "web", ""), "verdict", "named")
	} else {
		wantFact(t, obs, "age", "?not recorded")
		wantFact(t, blame("deploy", "web", ""), "verdict", "cannot_tell")
	}
	wantFact(t, blame("deploy", "gone", ""), "exists", "false")
}

// TestBlameForgets: books that lost a name give none.
func TestBlameForgets(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.in("", "configmaps", "busy")
	w.create(w.in("", "configmaps", "")+asMan+"first", fields{"metadata": fields{"name": "busy"}, "data": fields{"a": "1"}})
	for i := range 12 {
		w.send(http.MethodPatch, at+asMan+fmt.Sprintf("writer-%d", i), "application/merge-patch+json", fields{"data": fields{fmt.Sprintf("k%d", i): "x"}})
	}
	obs := w.probe(w.env, "kube/blame", "cm", "busy", "field", "data.a")
	wantFact(t, obs, "verdict", "cannot_tell")
	wantFact(t, obs, "writer", "?ancient-changes")
	w.send(http.MethodPatch, at, "application/merge-patch+json", fields{"metadata": fields{"managedFields": []fields{{}}}})
	obs = w.probe(w.env, "kube/blame", "cm", "busy", "field", "data.a")
	wantFact(t, obs, "verdict", "cannot_tell")
	wantFact(t, obs, "rewritten", "?keeps no managedFields")
}

// TestBlameInjected: a policy puts a value in, and the books know nothing of it;
// they name who asked for the opposite of what the policy forced.
func TestBlameInjected(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.policy("blame", `Object{metadata: Object.metadata{labels: {"injected": "yes", "forced": "theirs"}}}`)
	n := 0
	name := ""
	w.until("the policy", func() bool {
		n++
		name = fmt.Sprintf("made-%d", n)
		made := w.create(w.in("", "configmaps", "")+asMan+"requester", fields{"metadata": fields{"name": name, "labels": fields{"forced": "mine", "app": "x"}}})
		return made["metadata"].(fields)["labels"].(fields)["injected"] == "yes"
	})
	obs := w.probe(w.env, "kube/blame", "cm", name, "field", "metadata.labels.injected")
	wantFact(t, obs, "verdict", "unowned")
	wantFact(t, obs, "present", "true")
	wantFact(t, obs, "rewritten", "false") // what made it did not rewrite it
	w.aged(w.in("", "configmaps", name))
	w.put(w.in("", "configmaps", name), "requester", "a", "b")
	wantFact(t, w.probe(w.env, "kube/blame", "cm", name, "field", "metadata.labels.injected"), "rewritten", "true") // admission runs with each write
	obs = w.probe(w.env, "kube/blame", "cm", name, "field", "metadata.labels.forced")
	wantFact(t, obs, "writer", "requester")
	wantFinding(t, obs, "never a webhook or a policy")
}

// policy makes a mutating policy for this namespace alone.
func (w *keepersWorld) policy(name, expression string) string {
	w.t.Helper()
	const group = "/apis/admissionregistration.k8s.io/v1/"
	name += "-" + w.ns
	w.create(group+"mutatingadmissionpolicies", fields{"metadata": fields{"name": name}, "spec": fields{
		"matchConstraints": fields{"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": w.ns}},
			"resourceRules": []fields{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE", "UPDATE"}, "resources": []string{"configmaps"}}}},
		"failurePolicy": "Ignore", "reinvocationPolicy": "Never",
		"mutations": []fields{{"patchType": "ApplyConfiguration", "applyConfiguration": fields{"expression": expression}}}}})
	w.removedAtEnd(group + "mutatingadmissionpolicies/" + name)
	w.create(group+"mutatingadmissionpolicybindings", fields{"metadata": fields{"name": name}, "spec": fields{"policyName": name}})
	w.removedAtEnd(group + "mutatingadmissionpolicybindings/" + name)
	return name
}

func (w *keepersWorld) removedAtEnd(path string) {
	w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, path, "application/json", nil) })
}

// TestBlameSecret: of a Secret nothing but metadata crosses the wire.
func TestBlameSecret(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "secrets", "")+asMan+"syncer", fields{"metadata": fields{"name": "key"}, "stringData": fields{"password": "hunter2hunter2"}})
	w.aged(w.in("", "secrets", "key"))
	w.send(http.MethodPatch, w.in("", "secrets", "key")+asMan+"syncer", "application/merge-patch+json", fields{"stringData": fields{"password": "other"}})
	env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/secrets/") && !strings.HasPrefix(r.Header.Get("Accept"), cluster.AsMetadata) {
			t.Errorf("%s asks for %s", r.URL.Path, r.Header.Get("Accept"))
		}
		return false
	})
	obs := w.probe(env, "kube/blame", "secret", "key", "field", "data.password")
	wantFact(t, obs, "verdict", "named")
	wantFact(t, obs, "writer", "syncer")
	wantFact(t, obs, "present", "true")
	wantFact(t, obs, "rewritten", "true")
	obs = w.probe(env, "kube/blame", "secret", "key", "field", "data.other")
	wantFact(t, obs, "verdict", "cannot_tell")
	wantFact(t, obs, "present", "?values of a Secret")
}
