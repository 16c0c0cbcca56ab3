package kube

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	kubeowner "handrail/steps/kube/owner"
)

func ref(apiVersion, kind string, o fields) fields {
	meta := o["metadata"].(fields)
	return fields{"apiVersion": apiVersion, "kind": kind, "name": meta["name"], "uid": meta["uid"], "controller": true}
}

func ownersOf(w *keepersWorld, env steps.Env, what, name string) map[string]string {
	w.t.Helper()
	c := w.client(env)
	t, o := w.seen(c, what, name)
	owners, _, err := kubeowner.List(w.t.Context(), c, t, o)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, owner := range owners {
		if owner.How == "" {
			w.t.Errorf("%s: nothing says how to find out or to pause", owner.Name)
		}
		out[owner.Name] = owner.Paused
	}
	return out
}

func wantOwners(w *keepersWorld, env steps.Env, what, name string, want map[string]string) {
	w.t.Helper()
	if d := cmp.Diff(want, ownersOf(w, env, what, name)); d != "" {
		w.t.Errorf("owners of %s %s differ (-want +got):\n%s", what, name, d)
	}
}

// TestParents walks references between real objects.
func TestParents(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	cron := w.create(w.in(batchV1, "cronjobs", ""), fields{"metadata": fields{"name": "nightly"}, "spec": fields{
		"schedule": "0 0 1 1 *", "suspend": true,
		"jobTemplate": fields{"spec": fields{"template": fields{"spec": fields{"restartPolicy": "Never", "containers": []fields{{"name": "c", "image": "example.com/x:1"}}}}}}}})
	w.job("run", fields{"ownerReferences": []fields{ref(batchV1, "CronJob", cron)}})
	wantOwners(w, w.env, "job", "run", map[string]string{"cronjob/" + w.ns + "/nightly": kubeowner.PausedYes})
	w.merge(w.in(batchV1, "cronjobs", "nightly"), fields{"spec": fields{"suspend": false}})
	wantOwners(w, w.env, "job", "run", map[string]string{"cronjob/" + w.ns + "/nightly": kubeowner.PausedNo})
	// A reference outlives the version that it names.
	old := ref("batch/v1beta1", "CronJob", cron)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "old", "ownerReferences": []fields{old}}})
	wantOwners(w, w.env, "cm", "old", map[string]string{"cronjob/" + w.ns + "/nightly": kubeowner.PausedNo})

	w.until("the Job's pod", func() bool { return len(w.podsOf("run")) == 1 })
	pod := w.podsOf("run")[0]
	wantOwners(w, w.env, "pod", pod, map[string]string{"job/" + w.ns + "/run": kubeowner.PausedNo, "cronjob/" + w.ns + "/nightly": kubeowner.PausedNo})
	obs := w.probe(w.env, "kube/owners", "pod", pod)
	wantFact(t, obs, "managed", "true")
	if got := obs.Facts["active"].Strings(); !slices.Equal(got, []string{"job/" + w.ns + "/run", "cronjob/" + w.ns + "/nightly"}) {
		t.Errorf("active = %q", got)
	}
	blind := w.limited("blind", may("", "pods", "get"))
	wantOwners(w, blind, "pod", pod, map[string]string{"job/" + w.ns + "/run": kubeowner.PausedUnknown})
	wantFact(t, w.probe(blind, "kube/owners", "pod", pod), "managed", "?permission denied")

	w.workload("deployments", "web", 1)
	w.merge(w.in(appsV1, "deployments", "web"), fields{"spec": fields{"paused": true}})
	w.until("the pod of web", func() bool { return len(w.podsOf("web")) == 1 })
	got := ownersOf(w, w.env, "pod", w.podsOf("web")[0])
	if len(got) != 2 || got["deployment/"+w.ns+"/web"] != kubeowner.PausedNo {
		t.Errorf("owners of a pod of a paused Deployment = %v", got)
	}
}

// TestOwnerOfAnotherUID: a name is no identity.
func TestOwnerOfAnotherUID(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	first := w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "owner"}})
	stale := ref("v1", "ConfigMap", first)
	stale["uid"] = "11111111-2222-3333-4444-555555555555"
	absent := ref("v1", "ConfigMap", fields{"metadata": fields{"name": "nobody", "uid": "11111111-2222-3333-4444-666666666666"}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "child", "finalizers": []string{"example.com/hold"}, "ownerReferences": []fields{stale}}})
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "other", "finalizers": []string{"example.com/hold"}, "ownerReferences": []fields{absent}}})
	w.freed(w.in("", "configmaps", "child"))
	w.freed(w.in("", "configmaps", "other"))
	for name, say := range map[string]string{"child": "another object by UID", "other": "not found"} {
		obs := w.probe(w.env, "kube/owners", "cm", name)
		wantFact(t, obs, "managed", "false")
		wantFact(t, obs, "owners", "[]")
		wantFinding(t, obs, say)
		wantFinding(t, obs, "garbage collector")
	}
	// It was right: the collector has asked for the deletion of both.
	for _, name := range []string{"child", "other"} {
		w.until("the collector's word on "+name, func() bool {
			return w.read(w.in("", "configmaps", name))["metadata"].(fields)["deletionTimestamp"] != nil
		})
	}
	wantFact(t, w.probe(w.env, "kube/owners", "cm", "nothing-here"), "managed", "?not there")
}

// TestHelmIsNoOwner: it acts only when it is run.
func TestHelmIsNoOwner(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.create(w.in("", "configmaps", ""), fields{"metadata": fields{"name": "c", "labels": fields{"app.kubernetes.io/managed-by": "Helm"}, "annotations": fields{"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": w.ns}}})
	obs := w.probe(w.env, "kube/owners", "cm", "c")
	wantFact(t, obs, "managed", "false")
	wantFinding(t, obs, "Helm release "+w.ns+"/shop")
}

// front stands before the real API server and answers one path itself.
func (w *keepersWorld) front(answer func(http.ResponseWriter, *http.Request) bool) steps.Env {
	w.t.Helper()
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: w.admin.Transport}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !answer(rw, r) {
			proxy.ServeHTTP(rw, r)
		}
	}))
	w.t.Cleanup(s.Close)
	config, err := clientcmd.LoadFromFile(w.lab.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range config.Clusters {
		c.Server, c.CertificateAuthority, c.CertificateAuthorityData = s.URL, "", nil
	}
	for _, u := range config.AuthInfos {
		u.Token, u.TokenFile, u.ClientCertificate, u.ClientCertificateData, u.ClientKey, u.ClientKeyData = "", "", "", nil, "", nil
	}
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		w.t.Fatal(err)
	}
	env := w.as(path)
	env.Namespace = w.ns
	return env
}

// TestDeadAPIService adds one to what the real server says: a real one would
// hold the namespaces of every other test.
func TestDeadAPIService(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.guarded("held", "argocd.argoproj.io/hook-finalizer")
	env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/apis/apiregistration.k8s.io/v1/apiservices" {
			return false
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"kind":"APIServiceList","apiVersion":"apiregistration.k8s.io/v1","metadata":{},"items":[
			{"metadata":{"name":"v1.apps"},"status":{"conditions":[{"type":"Available","status":"True"}]}},
			{"metadata":{"name":"v1beta1.metrics.k8s.io"},"status":{"conditions":[{"type":"Available","status":"False","reason":"MissingEndpoints","message":"no endpoints"}]}}]}`))
		return true
	})
	obs := w.probe(env, "kube/finalizers", "cm", "held")
	wantFinding(t, obs, "v1beta1.metrics.k8s.io is not available (MissingEndpoints")
	if slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, "v1.apps") }) {
		t.Errorf("findings = %v, want the dead one only", obs.Findings)
	}
}

// TestListRefused takes the list of one kind away, on its second page or its
// first: what was not seen is not absent.
func TestListRefused(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	w.guarded("held", "argocd.argoproj.io/hook-finalizer")
	for _, tc := range []struct {
		name   string
		answer string
		code   int
	}{
		{"busy", `{"kind":"Status","status":"Failure","code":503,"message":"busy"}`, 503},
		{"not a list", `{}`, 200},
		{"cut", `{"kind":"PartialObjectMetadataList","items":[{"metadata":{"name":"a"`, 200},
		{"same page again", `{"kind":"PartialObjectMetadataList","metadata":{"continue":"x"},"items":[]}`, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.t = t
			env := w.front(func(rw http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/namespaces/"+w.ns+"/endpoints") {
					return false
				}
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(tc.code)
				_, _ = rw.Write([]byte(tc.answer))
				return true
			})
			obs := w.probe(env, "kube/finalizers", "cm", "held")
			wantFact(t, obs, "children", "?endpoints")
			wantFact(t, obs, "remains", "?endpoints")
			wantGap(t, obs, "children: endpoints")
		})
	}
}
