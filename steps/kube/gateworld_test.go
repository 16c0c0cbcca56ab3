package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	cleaner = "example.com/hook-cleanup"
	another = "example.com/another"
)

// scrap takes what a gate keeps.
type scrap struct {
	mu    sync.Mutex
	roles map[string]*bytes.Buffer
}

type scrapFile struct{ *bytes.Buffer }

func (scrapFile) Close() error { return nil }

func (s *scrap) Artifact(role, _ string) io.WriteCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.roles == nil {
		s.roles = map[string]*bytes.Buffer{}
	}
	s.roles[role] = &bytes.Buffer{}
	return scrapFile{s.roles[role]}
}
func (s *scrap) Line(string)   {}
func (s *scrap) Secret(string) {}

// stage is a namespace of the lab with another client in it, an administrator.
type stage struct {
	t     *testing.T
	lab   *lab.Lab
	ns    lab.Namespace
	env   steps.Env
	other *http.Client
	began time.Time
}

func newStage(t *testing.T) *stage {
	t.Helper()
	opts, err := lab.ForTests("steps-kube-gates")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &stage{t: t, lab: l, began: time.Now()}
	if s.ns, err = l.Namespace(t.Context(), "gates"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		letGo(t, s.other, l.URL(), s.ns.Name)
		_ = l.VacateNamespace(context.Background(), s.ns.Name)
	})
	s.env = steps.Env{Kubeconfig: s.ns.OperatorKubeconfig, Home: t.TempDir(), Now: time.Now, Version: "test"}
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if s.other, err = rest.HTTPClientFor(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

// letGo takes the finalizers from what a test made, so that it can go.
func letGo(t testing.TB, client *http.Client, server, ns string) {
	t.Helper()
	for _, path := range []string{"/api/v1/namespaces/" + ns + "/configmaps", "/apis/batch/v1/namespaces/" + ns + "/jobs", "/apis/batch/v1/namespaces/" + ns + "/cronjobs"} {
		list, err := send(client, http.MethodGet, server+path, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		items, _ := list["items"].([]any)
		for _, item := range items {
			meta := item.(map[string]any)["metadata"].(map[string]any)
			if meta["finalizers"] == nil {
				continue
			}
			// It may just have gone.
			_, _ = send(client, http.MethodPatch, server+path+"/"+meta["name"].(string), map[string]any{"metadata": map[string]any{"finalizers": nil}})
		}
	}
}

// raw sends one request as the other client.
func (s *stage) raw(method, path, media, body string) (int, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.lab.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "somebody-else/1")
	resp, err := s.other.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, b
}

// must is raw where it must go well.
func (s *stage) must(method, path, media, body string) map[string]any {
	s.t.Helper()
	code, b := s.raw(method, path, media, body)
	if code/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, code, b)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *stage) path(resource, name string) string {
	api := "/api/v1"
	if resource == "jobs" || resource == "cronjobs" {
		api = "/apis/batch/v1"
	}
	p := api + "/namespaces/" + s.ns.Name + "/" + resource
	if name != "" {
		p += "/" + name
	}
	return p
}

// thingMade is an object that a test makes.
type thingMade struct {
	resource, name string
	finalizers     []string
	labels, notes  map[string]string
	owners         []any
}

func (th thingMade) body() string {
	meta := map[string]any{"name": th.name, "finalizers": th.finalizers, "labels": th.labels, "annotations": th.notes, "ownerReferences": th.owners}
	m := map[string]any{"metadata": meta}
	switch th.resource {
	case "jobs":
		m["spec"] = map[string]any{"suspend": true, "template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "b"}}}}}
	case "pods":
		m["spec"] = map[string]any{"nodeName": "nowhere", "containers": []any{map[string]any{"name": "a", "image": "b"}}}
	case "configmaps":
		m["data"] = map[string]any{"a": "b"}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// make creates an object and returns its UID.
func (s *stage) make(th thingMade) string {
	s.t.Helper()
	m := s.must("POST", s.path(th.resource, ""), cluster.AsJSON, th.body())
	return m["metadata"].(map[string]any)["uid"].(string)
}

// condemn asks for the deletion of an object.
func (s *stage) condemn(resource, name string) {
	s.t.Helper()
	s.must("DELETE", s.path(resource, name), cluster.AsJSON, `{"propagationPolicy":"Background"}`)
}

// merge changes an object as the other client.
func (s *stage) merge(resource, name, patch string) {
	s.t.Helper()
	s.must("PATCH", s.path(resource, name), "application/merge-patch+json", patch)
}

func (s *stage) finalizers(resource, name string, all ...string) {
	s.t.Helper()
	b, _ := json.Marshal(all)
	s.merge(resource, name, fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, b))
}

// gone takes an object away, whatever holds it.
func (s *stage) gone(resource, name string) {
	s.t.Helper()
	s.raw("PATCH", s.path(resource, name), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
	s.raw("DELETE", s.path(resource, name), cluster.AsJSON, `{"propagationPolicy":"Background"}`)
	if code, b := s.raw("GET", s.path(resource, name), cluster.AsJSON, ""); code != http.StatusNotFound {
		s.t.Fatalf("%s/%s: %d %s, want it gone", resource, name, code, b)
	}
}

// content is what an object says, without what a controller keeps of it.
func (s *stage) content(resource, name string) string {
	s.t.Helper()
	code, b := s.raw("GET", s.path(resource, name), cluster.AsJSON, "")
	if code == http.StatusNotFound {
		return "gone"
	}
	if resource == "configmaps" {
		return string(b)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		s.t.Fatal(err)
	}
	delete(m, "status")
	meta := m["metadata"].(map[string]any)
	delete(meta, "managedFields")
	delete(meta, "resourceVersion")
	out, _ := json.Marshal(m)
	return string(out)
}

// stripParams name the workload of the finalizer's keeper, which is told of it
// and scaled away.
func (s *stage) stripParams(resource, name, uid string) steps.Params {
	in := steps.Params{"resource": steps.StringOf(resource), "name": steps.StringOf(name), "uid": steps.IdentOf(uid),
		"finalizer": steps.StringOf(cleaner), "controller": steps.StringOf("deployment/hook-cleaner")}
	if s == nil { // the caller has one
		return in
	}
	s.t.Helper()
	path := "/apis/apps/v1/namespaces/" + s.ns.Name + "/deployments"
	if code, _ := s.raw("GET", path+"/hook-cleaner", cluster.AsJSON, ""); code == http.StatusNotFound {
		s.raw("POST", path, cluster.AsJSON, `{"metadata":{"name":"hook-cleaner"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"hook-cleaner"}},"template":{"metadata":{"labels":{"app":"hook-cleaner"}},"spec":{"containers":[{"name":"a","image":"hook-cleaner:1","args":["--finalizer=`+cleaner+`"]}]}}}}`)
	}
	numbered(s.t, func() map[string]any { return s.must("GET", path+"/hook-cleaner", cluster.AsJSON, "") })
	return in
}

func deleteParams(resource, name, uid string) steps.Params {
	return steps.Params{"resource": steps.StringOf(resource), "name": steps.StringOf(name), "uid": steps.IdentOf(uid)}
}

func (s *stage) preview(g steps.Gater, in steps.Params) steps.Preview {
	s.t.Helper()
	p, err := g.Preview(s.t.Context(), in, &scrap{})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// approve previews, and approves what it shows.
func (s *stage) approve(g steps.Gater, in steps.Params) (steps.Preview, *steps.Approval) {
	s.t.Helper()
	p := s.preview(g, in)
	return p, s.confirm(p, p.Digest("i", "s"))
}

func (s *stage) confirm(p steps.Preview, armed steps.Digest) *steps.Approval {
	s.t.Helper()
	a, err := steps.Confirm(p, "i", "s", armed, p.Phrase)
	if err != nil {
		s.t.Fatalf("Confirm() = %v, unmet %+v", err, p.Unmet)
	}
	return a
}

// writes are the operator's requests that changed something.
func (s *stage) writes() []lab.AuditEvent {
	s.t.Helper()
	events, err := s.lab.AuditEvents(s.t.Context(), lab.AuditFilter{User: s.ns.Operator, Since: s.began})
	if err != nil {
		s.t.Fatal(err)
	}
	var out []lab.AuditEvent
	for _, e := range events {
		if e.Persists() {
			out = append(out, e)
		}
	}
	return out
}

func unmetText(p steps.Preview) string {
	var out []string
	for _, n := range p.Unmet {
		out = append(out, n.Why)
	}
	return strings.Join(out, "\n")
}

// beatingSink writes the object each time its manifest was kept.
type beatingSink struct {
	scrap
	beat func()
}

func (b *beatingSink) Artifact(role, media string) io.WriteCloser {
	if role == "manifest" {
		b.beat()
	}
	return b.scrap.Artifact(role, media)
}
