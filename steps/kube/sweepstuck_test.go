package kube

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
)

// stuckWorld is a cluster of its own: a dead API service stops the deletion of
// every namespace, those of other tests among them.
func stuckWorld(t *testing.T) *keepersWorld {
	t.Helper()
	opts, err := lab.ForTests("stuck")
	if err != nil {
		t.Fatal(err)
	}
	opts.Dir = filepath.Join(t.TempDir(), "lab")
	l, err := lab.Up(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := lab.Down(context.Background(), opts); err != nil {
			t.Error(err)
		}
	})
	w := &keepersWorld{t: t, lab: l}
	w.names = w.another()
	w.ns = w.names.Name
	w.env = w.as(w.names.OperatorKubeconfig)
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if w.admin, err = rest.HTTPClientFor(cfg); err != nil {
		t.Fatal(err)
	}
	w.url = cfg.Host
	return w
}

// space reads a namespace with the account of env, and keeps what it wrote.
func (w *keepersWorld) space(env steps.Env, name string) (steps.Observation, *readsSink) {
	w.t.Helper()
	sink := newReadsSink()
	obs, err := readsProbe(w.t.Context(), env, "kube/namespace", what("name", name), sink)
	if err != nil {
		w.t.Fatal(err)
	}
	return obs, sink
}

// bare makes a namespace without accounts.
func (w *keepersWorld) bare(name string) string {
	w.t.Helper()
	w.create("/api/v1/namespaces", fields{"metadata": fields{"name": name}})
	w.t.Cleanup(func() { _, _, _ = w.try(http.MethodDelete, "/api/v1/namespaces/"+name, "", nil) })
	return "/api/v1/namespaces/" + name
}

func (w *keepersWorld) untilBlocked(name, by string) steps.Observation {
	w.t.Helper()
	var obs steps.Observation
	w.until(name+" held by "+by, func() bool {
		obs, _ = w.space(w.root(), name)
		return obs.Facts["blocker"].Text() == by
	})
	return obs
}

// TestNamespaceHeldByFinalizer is the plainest case, and the one of an operator
// who may not read all.
func TestNamespaceHeldByFinalizer(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	ns := w.another().Name
	path := "/api/v1/namespaces/" + ns
	w.create(path+"/configmaps", fields{"metadata": fields{"name": "held", "finalizers": []string{"example.com/guard"}}})
	w.freed(path + "/configmaps/held")
	obs, _ := w.space(w.root(), ns)
	wantFact(t, obs, "exists", "true")
	wantFact(t, obs, "terminating", "false")
	wantFact(t, obs, "blocker", "none")
	wantFact(t, obs, "held_resource", "namespaces")
	wantFact(t, obs, "held_name", ns)
	wantFact(t, obs, "terminating_for", "0s")
	wantFact(t, obs, "older", "[]")
	if got := obs.Facts["holders"].Table(); got["example.com/guard"] != "1" {
		t.Errorf("holders = %v before anybody asks for the deletion", got)
	}

	w.remove(path, nil)
	obs = w.untilBlocked(ns, "finalizer")
	wantFact(t, obs, "objects", `["configmaps/held (example.com/guard)"]`)
	wantFact(t, obs, "remaining", "configmaps=1")
	wantFact(t, obs, "holders", "example.com/guard=1")
	wantFact(t, obs, "dead_apis", "[]")
	wantFact(t, obs, "webhooks", "[]")
	wantFact(t, obs, "own", "[]")
	wantFact(t, obs, "held_resource", "configmaps")
	wantFact(t, obs, "held_name", "held")
	wantFinding(t, obs, "Never empty the finalizers")
	_, sink := w.space(w.root(), ns)
	if got := sink.text("left"); got != "configmaps/held (example.com/guard)\n" {
		t.Errorf("artifact left = %q", got)
	}
	// Who may not list in the namespace is told what the namespace controller says.
	obs, _ = w.space(w.env, ns)
	wantFact(t, obs, "objects", "?permission denied")
	wantFact(t, obs, "holders", "example.com/guard=1")
	wantFact(t, obs, "blocker", "finalizer")
	wantFact(t, obs, "dead_apis", "[]")
	wantFact(t, obs, "held_name", "?not everything")
	wantFinding(t, obs, "told by the namespace controller")

	// What held it is gone, and the controller has not looked again yet, or has.
	w.merge(path+"/configmaps/held", fields{"metadata": fields{"finalizers": nil}})
	obs, _ = w.space(w.root(), ns)
	if is := obs.Facts["blocker"].Text(); obs.Facts["exists"].Bool() && is != "settling" {
		t.Errorf("blocker = %s (%s), want settling or no namespace", is, obs.Summary)
	}
	wantFact(t, obs, "held_name", ns)
}

// TestOrphansOfAnEmptiedNamespace does what must never be done: the objects
// stay stored, and come back inside the next namespace of the name.
func TestOrphansOfAnEmptiedNamespace(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	name := w.ns + "-emptied"
	path := w.bare(name)
	w.create(path+"/configmaps", fields{"metadata": fields{"name": "kept", "finalizers": []string{"example.com/guard"}}})
	w.remove(path, nil)
	w.until("the namespace is Terminating", func() bool { return w.untilBlockedOnce(name) == "finalizer" })
	ns := w.read(path)
	ns["spec"].(fields)["finalizers"] = []string{}
	w.send(http.MethodPut, path+"/finalize", "application/json", ns)
	obs, _ := w.space(w.root(), name)
	wantFact(t, obs, "exists", "false")
	wantFact(t, obs, "older", `["configmaps/kept"]`)
	wantFact(t, obs, "blocker", "none")
	wantFact(t, obs, "held_name", name)
	wantFinding(t, obs, "come back inside the next namespace")

	// Creation times have whole seconds, so the second namespace comes a second later.
	made := w.read(path + "/configmaps/kept")["metadata"].(fields)["creationTimestamp"].(string)
	w.until("a later second", func() bool {
		w.bare(name)
		if w.read(path)["metadata"].(fields)["creationTimestamp"].(string) > made {
			return true
		}
		w.remove(path, nil)
		again := w.read(path)
		again["spec"].(fields)["finalizers"] = []string{}
		_, _, _ = w.try(http.MethodPut, path+"/finalize", "application/json", again)
		return false
	})
	w.freed(path + "/configmaps/kept")
	obs, _ = w.space(w.root(), name)
	wantFact(t, obs, "older", `["configmaps/kept"]`)
	wantFinding(t, obs, "older than namespace")
}

func (w *keepersWorld) untilBlockedOnce(name string) string {
	obs, _ := w.space(w.root(), name)
	return obs.Facts["blocker"].Text()
}

// TestOwnCluster has a cluster of its own: a sweep of it finds what these tests
// made and nothing of others, and a dead API service stops no other test.
func TestOwnCluster(t *testing.T) {
	t.Parallel()
	w := stuckWorld(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *keepersWorld)
	}{{"sweep", sweepOfOwn}, {"policies and syncs", sweepOfOthers}, {"dead API", deadAPIOfOwn}} {
		t.Run(part.name, func(t *testing.T) {
			w := *w
			w.t = t
			part.run(t, &w)
		})
	}
}

// deadAPIOfOwn kills the server of an API group.
func deadAPIOfOwn(t *testing.T, w *keepersWorld) {
	const api = "/apis/apiregistration.k8s.io/v1/apiservices"
	w.create(api, fields{"metadata": fields{"name": "v1.dead.example.com"}, "spec": fields{
		"group": "dead.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
		"service": fields{"namespace": w.ns, "name": "gone"}}})
	path := w.bare("empty")
	w.until("the aggregator's word", func() bool {
		return slices.Equal(w.deadNames(), []string{"v1.dead.example.com"})
	})
	w.remove(path, nil)
	obs := w.untilBlocked("empty", "discovery")
	wantFact(t, obs, "dead_apis", `["v1.dead.example.com"]`)
	wantFinding(t, obs, "served by service "+w.ns+"/gone")
	wantFact(t, obs, "objects", "?dead.example.com")
	wantFact(t, obs, "held_resource", "apiservices.apiregistration.k8s.io")
	wantFact(t, obs, "held_name", "v1.dead.example.com")
	if !strings.Contains(obs.Summary, "dead API service") {
		t.Errorf("summary = %q", obs.Summary)
	}

	// One that counts as available and answers no discovery stops it as well.
	says := func(part string) func() bool {
		return func() bool {
			obs, _ = w.space(w.root(), "empty")
			return slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, part) })
		}
	}
	w.merge(api+"/v1.dead.example.com", fields{"spec": fields{"service": nil, "insecureSkipTLSVerify": false}})
	w.until("the aggregator trusts it", says("counts as available and does not say what it serves"))
	wantFact(t, obs, "blocker", "discovery")
	wantFact(t, obs, "dead_apis", `["v1.dead.example.com"]`)
	w.merge(api+"/v1.dead.example.com", fields{"spec": fields{"service": fields{"namespace": w.ns, "name": "gone"}, "insecureSkipTLSVerify": true}})
	w.until("the aggregator misses its server again", says("served by service "+w.ns+"/gone"))

	w.unserved(api)

	// A webhook without a server refuses the deletion of what another namespace
	// holds; the dead API is gone, so that it is the only cause.
	w.until("the empty namespace goes", func() bool {
		code, _, err := w.try(http.MethodGet, path, "", nil)
		return err == nil && code == http.StatusNotFound
	})
	hooked := w.bare("hooked")
	w.create(hooked+"/configmaps", fields{"metadata": fields{"name": "guarded"}})
	const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	w.create(hooks, fields{"metadata": fields{"name": "guard"}, "webhooks": []any{fields{
		"name": "guard.example.com", "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
		"namespaceSelector": fields{"matchLabels": fields{"kubernetes.io/metadata.name": "hooked"}},
		"clientConfig":      fields{"service": fields{"namespace": w.ns, "name": "gone"}},
		"rules":             []any{fields{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"DELETE"}, "resources": []string{"configmaps"}}}}}})
	w.until("the webhook refuses", func() bool {
		code, _, err := w.try(http.MethodDelete, hooked+"/configmaps/guarded?dryRun=All", "", nil)
		return err == nil && code == http.StatusInternalServerError
	})
	w.until("what every namespace gets", func() bool {
		code, _, err := w.try(http.MethodGet, hooked+"/configmaps/kube-root-ca.crt", "", nil)
		return err == nil && code == http.StatusOK
	})
	w.remove(hooked, nil)
	obs = w.untilBlocked("hooked", "webhook")
	wantFact(t, obs, "webhooks", `["validatingwebhookconfiguration/guard (webhook guard.example.com)"]`)
	wantFact(t, obs, "objects", `["configmaps/guarded" "configmaps/kube-root-ca.crt"]`)
	wantFinding(t, obs, "its service is not there")
	wantFact(t, obs, "held_resource", "validatingwebhookconfigurations.admissionregistration.k8s.io")
	wantFact(t, obs, "held_name", "guard")
	wantFact(t, obs, "held_webhook", "guard.example.com")
	obs, _ = w.space(w.env, "hooked")
	wantFact(t, obs, "blocker", "webhook")
	wantFact(t, obs, "webhooks", "?webhook guard.example.com (of a configuration that could not be read) refuses")

	w.remove(hooks+"/guard", nil)
	obs, _ = w.space(w.root(), "hooked")
	if is := obs.Facts["blocker"].Text(); obs.Facts["exists"].Bool() && is != "settling" {
		t.Errorf("blocker = %s (%s), want settling or no namespace", is, obs.Summary)
	}
}

// unserved takes the dead API service away through its gate, which leaves alone
// what is served, and what comes back to life between confirmation and act.
func (w *keepersWorld) unserved(api string) {
	w.t.Helper()
	armed := func(name string) (steps.Gater, steps.Preview) {
		uid := w.read(api + "/" + name)["metadata"].(fields)["uid"].(string)
		g := gateOf("kube/delete", w.root())
		p, err := g.Preview(w.t.Context(), deleteParams("apiservices.apiregistration.k8s.io", name, uid), &scrap{})
		if err != nil {
			w.t.Fatal(err)
		}
		return g, p
	}
	_, p := armed("v1.apps")
	w.held(p, "apiservice/v1.apps is not known to be dead (Available is True)", "uninstall what serves it")
	// Who finds no word on it does not know.
	w.create(api, fields{"metadata": fields{"name": "v2.dead.example.com"}, "spec": fields{"group": "dead.example.com", "version": "v2", "groupPriorityMinimum": 100, "versionPriority": 100,
		"insecureSkipTLSVerify": true, "service": fields{"namespace": w.ns, "name": "gone"}}})
	w.until("the second is dead", func() bool { return len(w.deadNames()) == 2 })
	g, p := armed("v2.dead.example.com")
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatalf("Confirm() = %v: %s", err, unmetText(p))
	}
	w.merge(api+"/v2.dead.example.com/status", fields{"status": fields{"conditions": []fields{
		{"type": "Available", "status": "True", "reason": "Passed", "message": "it came back", "lastTransitionTime": "2026-11-22T02:14:00Z"}}}})
	if o, err := g.Act(w.t.Context(), a, &scrap{}); err != nil || o.Result != steps.Refused {
		w.t.Errorf("Act() = %+v, %v on what came back to life", o, err)
	}
	w.remove(api+"/v2.dead.example.com", nil)

	g, p = armed("v1.dead.example.com")
	if a, err = steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); err != nil {
		w.t.Fatalf("Confirm() = %v: %s", err, unmetText(p))
	}
	if o, err := g.Act(w.t.Context(), a, &scrap{}); err != nil || o.Result != steps.Done {
		w.t.Errorf("Act() = %+v, %v", o, err)
	}
}

func (w *keepersWorld) deadNames() []string {
	w.t.Helper()
	obs, _ := w.space(w.root(), "default")
	return obs.Facts["dead_apis"].Strings()
}
