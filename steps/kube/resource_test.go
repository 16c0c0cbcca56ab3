package kube

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps/cluster"
)

func TestFind(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	c, err := cluster.Connect(w.env, newReadsSink())
	if err != nil {
		t.Fatal(err)
	}
	job := cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true}
	for name, want := range map[string]cluster.Resource{
		"job": job, "jobs": job, "jobs.batch": job, "jobs.v1.batch": job, "job.batch": job, "Job": job,
		"deploy": {Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true},
		"cm":     {Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true},
		"ns":     {Version: "v1", Plural: "namespaces", Kind: "Namespace"},
		"crd":    {Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition"},
	} {
		if got, err := c.Find(t.Context(), name); err != nil || got != want {
			t.Errorf("find(%q) = %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, name := range []string{"nosuchkinds", "jobs.example.com", "jobs.v7.batch", "all"} {
		if got, err := c.Find(t.Context(), name); !errors.Is(err, cluster.ErrNoKind) || !strings.Contains(err.Error(), name) {
			t.Errorf("find(%q) = %+v, %v; want errNoKind", name, got, err)
		}
	}
	if got, err := c.KindOf("batch/v1", "Job"); err != nil || got != job {
		t.Errorf("kindOf() = %+v, %v", got, err)
	}
	if _, err := c.KindOf("batch/v1", "Jobs"); !errors.Is(err, cluster.ErrNoKind) {
		t.Errorf("kindOf() of no kind = %v", err)
	}
	if _, err := c.KindOf("a/b/c", "Job"); err == nil {
		t.Error("kindOf() took an apiVersion that is none")
	}
}

// TestFindCustom resolves a kind that was added while the server runs.
func TestFindCustom(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	group := w.ns.Name + ".example.com"
	crds := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	w.admin(http.MethodPost, crds, m{"metadata": m{"name": "widgets." + group}, "spec": m{
		"group": group, "scope": "Namespaced", "names": m{"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": []string{"wd"}},
		"versions": []m{{"name": "v1", "served": true, "storage": true, "schema": m{"openAPIV3Schema": m{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			"additionalPrinterColumns": []m{{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"}}}}}})
	t.Cleanup(func() { w.admin(http.MethodDelete, crds+"/widgets."+group, nil) })
	want := cluster.Resource{Group: group, Version: "v1", Plural: "widgets", Kind: "Widget", Namespaced: true}
	var got cluster.Resource
	var err error
	served := func() bool {
		c, cerr := cluster.Connect(w.env, newReadsSink())
		if cerr != nil {
			t.Fatal(cerr)
		}
		got, err = c.Find(t.Context(), "widget."+group)
		return err == nil
	}
	until(t, served)
	if got != want {
		t.Fatalf("find() = %+v, %v", got, err)
	}
	w.env.Kubeconfig = w.lab.Kubeconfig()
	path := "/apis/" + group + "/v1/namespaces/" + w.ns.Name + "/widgets"
	w.admin(http.MethodPost, path, m{"apiVersion": group + "/v1", "kind": "Widget", "metadata": m{"name": "w"}, "spec": m{"colour": "red\tand\nblue"}})
	obs, sink := w.probe("kube/list", what("resource", "widgets."+group, "namespace", w.ns.Name))
	if obs.Facts["count"].Int() != 1 || !strings.Contains(sink.text("list"), "w\tred\\tand\\nblue\n") || !strings.HasPrefix(sink.text("list"), "NAME\tCOLOUR\n") {
		t.Errorf("table of a custom kind = %v %q", obs.Facts, sink.text("list"))
	}
}

// until asks again until it is so; the end of the test ends it.
func until(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it never came about")
		}
	}
}

// TestDeadGroup: an aggregated API whose server is dead hides its own kinds and
// no others, and that its kinds do not exist is then not known.
func TestDeadGroup(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	asked := 0
	f.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/apis/dead.example.com/v1" {
			f.mu.Lock()
			asked++
			f.mu.Unlock()
		}
		return false
	}
	c, err := cluster.Connect(f.env, newReadsSink())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Find(t.Context(), "th"); err != nil || got.String() != "things.example.com" {
		t.Errorf("find() = %+v, %v, want what the living group serves", got, err)
	}
	_, err = c.Find(t.Context(), "gadgets")
	if err == nil || errors.Is(err, cluster.ErrNoKind) || !strings.Contains(err.Error(), "dead.example.com/v1") {
		t.Errorf("find() of a kind that a dead group may serve = %v, want that it is not known", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked > 2 {
		t.Errorf("the dead group was asked %d times", asked)
	}
}

// TestHiddenAPI: what a server hides from a user, or what is no API server, is
// no proof that a kind does not exist.
func TestHiddenAPI(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		hidden []string
		code   int
		want   string
	}{
		{"a web server", []string{"/api", "/apis"}, 404, "does not know this address"},
		{"all is forbidden", []string{"/api", "/apis"}, 403, "permission denied"},
		{"the core is forbidden", []string{"/api"}, 403, "permission denied"},
		{"the named groups are not there", []string{"/apis"}, 404, "does not know this address"},
		{"all is empty", []string{"/api", "/apis"}, 200, "no API server"},
		{"the core is empty", []string{"/api"}, 200, "its API groups"},
		{"the named groups are empty", []string{"/apis"}, 200, "its API groups"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if !slices.Contains(tc.hidden, r.URL.Path) {
					return false
				}
				if tc.code == 200 {
					reply(w, 200, m{"kind": map[string]string{"/api": "APIVersions", "/apis": "APIGroupList"}[r.URL.Path], "versions": []string{}, "groups": []m{}})
					return true
				}
				w.WriteHeader(tc.code)
				return true
			}
			c, err := cluster.Connect(f.env, newReadsSink())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Find(t.Context(), "gadgets"); err == nil || errors.Is(err, cluster.ErrNoKind) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("find() = %v, want %q and not that there is no such kind", err, tc.want)
			}
		})
	}
}
