package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// TestDelivery: a Secret that a person made, and one that an ExternalSecret should bring; who takes
// it and how, what is older than the last write, and no value anywhere. What External Secrets
// itself writes is walked by the drill rotated-secret.
func TestDelivery(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.definitions()
	obs := w.about("kube/delivery", "secret", "db")
	wantFact(t, obs, "exists", "false")
	wantFact(t, obs, "status", "wrong")
	wantFact(t, obs, "fault", "absent")
	w.create(w.in("", "secrets", "")+"?fieldManager=kubectl-create", fields{"metadata": fields{"name": "db", "annotations": fields{"reconcile.external-secrets.io/data-hash": "0123456789abcdef"}},
		"stringData": fields{"password": "first-value", "user": "shop"}})
	spec := podSpec("")
	env := func(name, key string) fields {
		return fields{"name": name, "valueFrom": fields{"secretKeyRef": fields{"name": "db", "key": key}}}
	}
	spec["imagePullSecrets"] = []fields{{"name": "login"}}
	spec["containers"] = []fields{
		{"name": "app", "image": "example.com/app:1", "env": []fields{env("PASSWORD", "password"), env("HOST", "host")}},
		{"name": "side", "image": "example.com/side:1", "volumeMounts": []fields{{"name": "s", "mountPath": "/a"}}}}
	spec["volumes"] = []fields{{"name": "s", "secret": fields{"secretName": "db"}}}
	w.deployment("shop", 1, spec)
	pod := podName(w.podOf("shop"))
	started := time.Now().UTC().Add(time.Second).Truncate(time.Second)
	running := fields{"running": fields{"startedAt": started.Format(time.RFC3339)}}
	w.podStatus(pod, fields{"phase": "Running", "containerStatuses": []fields{containerIs("app", 0, running, nil), containerIs("side", 0, running, nil)}})
	obs = w.about("kube/delivery", "secret", "db")
	wantFact(t, obs, "by", "hand")
	wantFact(t, obs, "status", "wrong")
	wantFact(t, obs, "fault", "keys")
	wantFact(t, obs, "lacking", `["host"]`)
	wantFact(t, obs, "keys", `["password" "user"]`)
	wantFact(t, obs, "consumers", `["deployment/shop"]`)
	wantFact(t, obs, "files", fmt.Sprintf(`["container side of pod %s"]`, pod))
	wantFact(t, obs, "behind", "[]")
	wantFact(t, w.about("kube/delivery", "secret", "login"), "pulls", fmt.Sprintf(`[%q]`, pod))

	// It is rotated once the second of the start is over: the variable is old, the file is not.
	w.until("the next second", func() bool { return time.Now().After(started.Add(time.Second)) })
	w.send(http.MethodPatch, w.in("", "secrets", "db")+"?fieldManager=rotator", "application/merge-patch+json", fields{"stringData": fields{"password": "second-value", "host": "db-1"}})
	obs = w.about("kube/delivery", "secret", "db")
	wantFact(t, obs, "status", "delivered")
	wantFact(t, obs, "writer", "rotator")
	behind := obs.Facts["behind"].Strings()
	if len(behind) != 1 || !strings.Contains(behind[0], "container app of pod "+pod) {
		t.Errorf("behind = %q", behind)
	}
	all := fmt.Sprint(obs)
	for _, secret := range []string{"first-value", "second-value", "c2Vjb25kLXZhbHVl", "0123456789abcdef"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in the observation", secret)
		}
	}
	later := what("namespace", w.ns, "secret", "db")
	later["rotated"] = steps.TimeOf(time.Now().Add(time.Hour))
	wantFact(t, w.aboutAs(w.env, "kube/delivery", later), "status", "late")

	w.external("db", fields{"status": "True", "reason": "SecretSynced"}, time.Now())
	obs = w.about("kube/delivery", "secret", "db")
	wantFact(t, obs, "by", "external-secrets")
	wantFact(t, obs, "status", "wrong")
	wantFact(t, obs, "fault", "reference") // there is no such store
	wantFact(t, obs, "store_ready", "false")
	blind := w.limited("blind", may("", "pods", "list"), may("", "events", "list"), may("external-secrets.io", "externalsecrets", "list"), may("external-secrets.io", "secretstores", "get"))
	if _, err := w.tried(blind, "kube/delivery", "db"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("without the right to the Secret: %v", err)
	}
	half := w.limited("half", may("", "secrets", "get"), may("", "pods", "list"))
	obs = w.aboutAs(half, "kube/delivery", what("namespace", w.ns, "secret", "db"))
	wantFact(t, obs, "status", "?permission denied")
	wantFact(t, obs, "by", "?permission denied")
	if len(obs.Facts["behind"].Strings()) != 1 {
		t.Errorf("behind = %v", obs.Facts["behind"])
	}
}

// external makes an ExternalSecret that says of itself what its controller would.
func (w *keepersWorld) external(name string, ready fields, refreshed time.Time) {
	w.t.Helper()
	w.create(w.in(externalSecrets, "externalsecrets", ""), fields{"apiVersion": externalSecrets, "kind": "ExternalSecret", "metadata": fields{"name": name},
		"spec": fields{"refreshInterval": "1h", "secretStoreRef": fields{"name": "vault", "kind": "SecretStore"}, "data": []fields{{"secretKey": "password", "remoteRef": fields{"key": name}}}}})
	ready["type"] = "Ready"
	w.status(w.in(externalSecrets, "externalsecrets", name), fields{"conditions": []fields{ready}, "refreshTime": refreshed.UTC().Format(time.RFC3339)}, true)
}

// tried reads a Secret's delivery and lets it fail.
func (w *keepersWorld) tried(env steps.Env, kind, secret string) (steps.Observation, error) {
	w.t.Helper()
	for _, k := range Kinds() {
		if k.Name == kind {
			return k.Reads(env).Probe(w.t.Context(), what("namespace", w.ns, "secret", secret), newReadsSink())
		}
	}
	w.t.Fatalf("no kind %s", kind)
	return steps.Observation{}, nil
}
