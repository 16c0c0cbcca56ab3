package kube

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRotation: a Secret that was written after the container started, a
// ConfigMap that was not, a file by subPath, and a restart that is no release.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "secrets", ""), fields{"metadata": fields{"name": "db"}, "stringData": fields{"password": "first", "user": "shop"}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "settings"}, "data": fields{"mode": "a"}})
	spec := podSpec("")
	env := func(name, kind, of, key string) fields {
		return fields{"name": name, "valueFrom": fields{kind: fields{"name": of, "key": key}}}
	}
	spec["containers"] = []fields{{"name": "app", "image": "example.com/app:1",
		"env":          []fields{env("PASSWORD", "secretKeyRef", "db", "password"), env("MODE", "configMapKeyRef", "settings", "mode")},
		"envFrom":      []fields{{"configMapRef": fields{"name": "nothing"}}},
		"volumeMounts": []fields{{"name": "s", "mountPath": "/a", "subPath": "mode"}, {"name": "s", "mountPath": "/b"}}}}
	spec["volumes"] = []fields{{"name": "s", "configMap": fields{"name": "settings"}}}
	w.deployment("shop", 1, spec)
	pod := podName(w.podOf("shop"))
	// The books are kept in seconds: this start is after what was made above.
	started := time.Now().UTC().Add(time.Second).Truncate(time.Second)
	w.podStatus(pod, fields{"phase": "Running", "containerStatuses": []fields{containerIs("app", 0, fields{"running": fields{"startedAt": started.Format(time.RFC3339)}}, nil)}})
	obs := w.probe(w.env, "kube/rotation", "deployment", "shop")
	wantFact(t, obs, "changed_after_start", "[]")
	wantFact(t, obs, "missing", `["configmap/nothing"]`)
	wantFact(t, obs, "template_changed", "false")
	wantFact(t, obs, "template_diff", "[]")
	wantFinding(t, obs, "configmap/settings")

	// The password is rotated, once the second of the start is over.
	w.until("the next second", func() bool { return time.Now().After(started.Add(time.Second)) })
	w.send(http.MethodPatch, w.in("", "secrets", "db")+"?fieldManager=rotator", "application/merge-patch+json", fields{"stringData": fields{"password": "second-value"}})
	obs = w.probe(w.env, "kube/rotation", "pod", pod)
	got := obs.Facts["changed_after_start"].Strings()
	if len(got) != 1 || !strings.Contains(got[0], "secret/db key password") || !strings.Contains(got[0], "by rotator") {
		t.Errorf("changed_after_start = %q", got)
	}
	if all := obs.Summary + strings.Join(got, ""); strings.Contains(all, "second-value") {
		t.Error("the value of a Secret is in the observation")
	}
	wantFact(t, obs, "template_changed", "false")

	// A restart by the annotation is no release; a new image is one.
	w.merge(w.in(appsV1, "deployments", "shop"), fields{"spec": fields{"template": fields{"metadata": fields{"annotations": fields{"kubectl.kubernetes.io/restartedAt": "2026-11-22T02:14:00Z"}}}}})
	w.until("the second revision", func() bool { return w.revisions("shop") == 2 })
	obs = w.probe(w.env, "kube/rotation", "deployment", "shop")
	wantFact(t, obs, "template_changed", "false")
	wantFact(t, obs, "restarted", "2026-11-22T02:14:00Z")
	wantFinding(t, obs, "it is no release")
	w.send(http.MethodPatch, w.in(appsV1, "deployments", "shop"), "application/json-patch+json",
		[]byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/app:2"}]`))
	w.until("the third revision", func() bool { return w.revisions("shop") == 3 })
	obs = w.probe(w.env, "kube/rotation", "deployment", "shop")
	wantFact(t, obs, "template_changed", "true")
	if got := obs.Facts["template_diff"].Strings(); len(got) != 1 || !strings.HasSuffix(got[0], "image") {
		t.Errorf("template_diff = %q", got)
	}
	blind := w.limited("blind", may("apps", "deployments", "get"), may("apps", "replicasets", "list"), may("", "pods", "list"))
	obs = w.probe(blind, "kube/rotation", "deployment", "shop")
	wantFact(t, obs, "changed_after_start", "?permission denied")
	wantFact(t, obs, "template_changed", "true")
	wantFact(t, w.probe(w.env, "kube/rotation", "deployment", "nobody"), "template_changed", "?not there")
}

func (w *keepersWorld) revisions(app string) int {
	return len(w.read(w.in(appsV1, "replicasets", "") + "?labelSelector=app%3D" + app)["items"].([]any))
}
