package kube

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
)

const rbacAPI = "rbac.authorization.k8s.io"

func (s *stage) role(name string, verbs ...any) {
	s.t.Helper()
	s.post(s.at(rbacAPI, "roles", ""), map[string]any{"metadata": map[string]any{"name": name},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": verbs}}})
}

func (s *stage) binding(name, role string, more map[string]any) string {
	s.t.Helper()
	meta := map[string]any{"name": name}
	for k, v := range more {
		meta[k] = v
	}
	return s.born(rbacAPI, "rolebindings", map[string]any{"metadata": meta,
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "robot", "namespace": s.ns.Name}},
		"roleRef":  map[string]any{"apiGroup": rbacAPI, "kind": "Role", "name": role}})
}

const toV2 = `[{op: replace, path: /roleRef/name, value: migrate-v2}]`

// TestRecreate gives a binding another role: what kube/patch refuses, and names.
func TestRecreate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{rbacAPI}, []string{"rolebindings"})
	s.role("migrate-v1", "get")
	s.role("migrate-v2", "get", "list")
	uid := s.binding("migrate", "migrate-v1", map[string]any{"labels": map[string]any{"app": "a"}})
	in := changeIn("rolebinding", "migrate", uid, "patch", toV2, "widens", "/roleRef")
	if p := s.refused("kube/patch", in, "another role"); !strings.Contains(p.Unmet[0].Cure, "kube/recreate") {
		t.Errorf("cure = %q", p.Unmet[0].Cure)
	}
	p, o := s.acts("kube/recreate", in, steps.Done)
	if p.Phrase != "recreate rolebinding/"+s.ns.Name+"/migrate" || strings.Count(p.Request, "\n") != 2 || !strings.Contains(p.Diff[len(p.Diff)-1], "migrate-v2") {
		t.Errorf("phrase = %q, request = %s, diff = %q", p.Phrase, p.Request, p.Diff)
	}
	got := s.now(s.at(rbacAPI, "rolebindings", "migrate"))
	role, _ := patch.Get(got, "/roleRef/name")
	label, _ := patch.Get(got, "/metadata/labels/app")
	again, _ := patch.Get(got, "/metadata/uid")
	if role != "migrate-v2" || label != "a" || again == uid || steps.Find(o.After, act.KeyUID) != again {
		t.Errorf("made again = %v, after = %v", got, o.After)
	}
	w := s.writes()
	if len(w) != 2 || w[0].Verb != "delete" || w[1].Verb != "create" || w[0].Name != "migrate" || w[1].Name != "migrate" {
		t.Errorf("writes = %+v", w)
	}
	for _, e := range w {
		if !slices.Contains(o.After, steps.KV{Key: act.KeyAudit, Value: e.ID}) {
			t.Errorf("the outcome does not name the request %s (%s): %v", e.ID, e.Verb, o.After)
		}
	}
	s.refused("kube/recreate", changeIn("rolebinding", "migrate", again.(string), "patch", toV2, "widens", "/roleRef"), "same as the old one")
	s.refused("kube/recreate", changeIn("rolebinding", "migrate", again.(string), "patch", `[{op: add, path: /metadata/labels/b, value: c}]`), "can be changed without deleting")
	s.refused("kube/recreate", changeIn("rolebinding", "migrate", again.(string), "patch", `[{op: replace, path: /metadata/name, value: c}]`), "which object this is")
}

// TestRecreateOfAClaim moves a claim that waits for a class to another one, and
// refuses one that has a volume or a Pod.
func TestRecreateOfAClaim(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	claim := func(name string) string {
		return s.born("", "persistentvolumeclaims", map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{
			"storageClassName": "gone", "accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}})
	}
	uid := claim("work")
	const ops = `[{op: replace, path: /spec/storageClassName, value: local-path}]`
	if p := s.refused("kube/patch", changeIn("pvc", "work", uid, "patch", ops), "never be changed"); !strings.Contains(p.Unmet[0].Cure, "kube/recreate") {
		t.Errorf("cure = %q", p.Unmet[0].Cure)
	}
	s.acts("kube/recreate", changeIn("pvc", "work", uid, "patch", ops), steps.Done)
	class, _ := patch.Get(s.now(s.at("", "persistentvolumeclaims", "work")), "/spec/storageClassName")
	size, _ := patch.Get(s.now(s.at("", "persistentvolumeclaims", "work")), "/spec/resources/requests/storage")
	if class != "local-path" || size != "1Gi" {
		t.Errorf("class = %v, size = %v", class, size)
	}
	used := claim("used")
	s.born("", "pods", map[string]any{"metadata": map[string]any{"name": "user"}, "spec": map[string]any{"nodeName": "nowhere",
		"volumes":    []any{map[string]any{"name": "v", "persistentVolumeClaim": map[string]any{"claimName": "used"}}},
		"containers": []any{map[string]any{"name": "a", "image": "b"}}}})
	s.refused("kube/recreate", changeIn("pvc", "used", used, "patch", ops), "Pods that a node knows use")
	bound := claim("bound")
	s.must("PATCH", s.at("", "persistentvolumeclaims", "bound")+"/status", "application/merge-patch+json", `{"status":{"phase":"Bound"}}`)
	s.refused("kube/recreate", changeIn("pvc", "bound", bound, "patch", ops), "not just waiting")
	dep := s.born("apps", "deployments", deployment("web", nil))
	s.refused("kube/recreate", changeIn("deployment", "web", dep, "patch", `[{op: replace, path: /spec/selector/matchLabels/app, value: x}]`), "of a kind that is not recreated")
}

// TestRecreateRefusesWhatCannotBePutBack: without the second half there is no
// first.
func TestRecreateRefusesWhatCannotBePutBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{rbacAPI}, []string{"rolebindings"})
	s.role("migrate-v1", "get")
	uid := s.binding("migrate", "migrate-v1", nil)
	// A role that is not there: only an administrator may bind it.
	s.refused("kube/recreate", changeIn("rolebinding", "migrate", uid, "patch", toV2, "widens", "/roleRef"), "The new object could not be made")
	s.role("migrate-v2", "get")
	held := s.binding("held", "migrate-v1", map[string]any{"finalizers": []any{another}})
	s.refused("kube/recreate", changeIn("rolebinding", "held", held, "patch", toV2, "widens", "/roleRef"), "would hold")
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %+v", w)
	}
	s.must("PATCH", s.at(rbacAPI, "rolebindings", "held"), "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
}

// TestRecreatePutsBack: a second half that is refused leaves the old content, and
// the outcome says so.
func TestRecreatePutsBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{rbacAPI}, []string{"rolebindings"})
	s.role("migrate-v1", "get")
	s.role("migrate-v2", "get", "list")
	uid := s.binding("migrate", "migrate-v1", map[string]any{"labels": map[string]any{"app": "a"}})
	in := changeIn("rolebinding", "migrate", uid, "patch", toV2, "widens", "/roleRef")
	g := s.gate("kube/recreate")
	armed := s.preview(g, in)
	a := s.confirm(armed, armed.Digest("i", "s"))
	s.must("DELETE", s.at(rbacAPI, "roles", "migrate-v2"), cluster.AsJSON, "{}") // between preview and act
	o, err := g.Act(t.Context(), a, &scrap{})
	if err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "The old content is back") || !strings.Contains(o.Response, "second half failed") {
		t.Fatalf("Act() = %+v, %v", o, err)
	}
	got := s.now(s.at(rbacAPI, "rolebindings", "migrate"))
	role, _ := patch.Get(got, "/roleRef/name")
	label, _ := patch.Get(got, "/metadata/labels/app")
	if role != "migrate-v1" || label != "a" {
		t.Errorf("put back = %v", got)
	}
	found, err := g.(steps.Finder).Find(t.Context(), append(armed.Target, armed.Shown...), in, &scrap{})
	if err != nil || found.Result != steps.Failed || !strings.Contains(found.Response, "put back") {
		t.Errorf("Find() = %+v, %v", found, err)
	}
	// And where a program died between the two halves.
	s.must("DELETE", s.at(rbacAPI, "rolebindings", "migrate"), cluster.AsJSON, "{}")
	found, err = g.(steps.Finder).Find(t.Context(), append(armed.Target, armed.Shown...), in, &scrap{})
	if err != nil || found.Result != steps.Failed || !strings.Contains(found.Response, "first half took effect") {
		t.Errorf("Find() = %+v, %v", found, err)
	}
	if code, _ := s.raw("GET", s.at(rbacAPI, "rolebindings", "migrate"), cluster.AsJSON, ""); code != http.StatusNotFound {
		t.Errorf("a look made something: %d", code)
	}
}

// TestRecreateOfAJobNeedsItsPods: what would go with a Job is looked for, and
// where reading is not allowed the Job stays.
func TestRecreateOfAJobNeedsItsPods(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.allow(false, []string{"batch"}, []string{"jobs"})
	uid := s.born("batch", "jobs", map[string]any{"metadata": map[string]any{"name": "sums"}, "spec": map[string]any{"suspend": true, "completions": 1,
		"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "b"}}}}}})
	in := changeIn("job", "sums", uid, "patch", `[{op: replace, path: /spec/template/spec/containers/0/image, value: c}]`)
	if p := s.preview(s.gate("kube/recreate"), in); len(p.Unmet) > 0 || steps.Find(p.Shown, "what it owns") != "" {
		t.Fatalf("unmet = %q, shown = %v, want a gate that opens", unmetText(p), p.Shown)
	}
	s.env = s.withheld("/pods")
	p := s.refused("kube/recreate", in, "Whether Pods would go with")
	if owns := steps.Find(p.Shown, "what it owns"); !strings.Contains(owns, "pods: ") || !strings.Contains(owns, "not known") {
		t.Errorf("shown = %v", p.Shown)
	}
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %+v", w)
	}
}

// withheld is the operator whom the server refuses the lists that end like this.
func (s *stage) withheld(ends string) steps.Env {
	s.t.Helper()
	proxy := s.onward()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, ends) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"it is forbidden: User \"op\" cannot list it"}`)
			return
		}
		proxy.ServeHTTP(w, req)
	}))
	s.t.Cleanup(srv.Close)
	return s.as("", srv.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
}
