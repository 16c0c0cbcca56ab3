package kube

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"handrail/steps"
)

// TestBlameFaults spoils each answer that the probes of writers get.
func TestBlameFaults(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	at := w.web("web", "kubectl-create")
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "images"}, "data": fields{"app": "a:2.1.0"}})
	w.account("auditor", may("apps", "deployments", "update"))
	w.create(w.in(batchV1, "cronjobs", ""), fields{"metadata": fields{"name": "audit"}, "spec": fields{"schedule": "* * * * *", "suspend": true,
		"jobTemplate": fields{"spec": fields{"template": fields{"spec": podAs("auditor", "kubectl")}}}}})
	w.create(w.in("", "secrets", "")+asMan+"syncer", fields{"metadata": fields{"name": "key"}, "stringData": fields{"password": "hunter2hunter2"}})
	w.aged(at)
	w.send(http.MethodPatch, at+asMan+"reconciler", "application/strategic-merge-patch+json", fields{"spec": fields{"template": fields{"spec": fields{
		"containers": []fields{{"name": "app", "image": "a:2.1.0"}}}}}})
	file := filepath.Join(t.TempDir(), "signals.yaml")
	if err := os.WriteFile(file, []byte(signalsHead+`
- {name: a, object: configmap/images, field: data.app, want: a:2.1.0}
- {name: b, object: deployment/web, field: spec.replicas, want: 1}
- {name: c, object: secret/key, field: data.password, present: true}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	of := func(resource, name, field string) steps.Params {
		in := what("resource", resource, "name", name, "namespace", w.ns)
		if field != "" {
			in["field"] = steps.StringOf(field)
		}
		return in
	}
	w.spoilAll("TestBlameFaults", []faultCase{
		{name: "blame", kind: "kube/blame", in: of("deploy", "web", "spec.template.spec.containers[name=app].image")},
		{name: "blame of a part of a whole", kind: "kube/blame", in: of("deploy", "web", "spec.selector.matchLabels.app")},
		{name: "blame of a Secret", kind: "kube/blame", in: of("secret", "key", "data.password")},
		{name: "blame of what is not there", kind: "kube/blame", in: of("cm", "gone", "data.x")},
		{name: "writers", kind: "kube/writers", in: of("deploy", "web", "")},
		{name: "signals", kind: "kube/signals", in: steps.Params{"file": steps.PathOf(file), "namespace": steps.StringOf(w.ns)}},
	})
}
