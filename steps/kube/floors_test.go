package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
)

// refusedBy holds a preview to one floor: it refuses, says how to meet it, and
// Confirm gives nothing.
func (s *stage) refusedBy(p steps.Preview, part string) {
	s.t.Helper()
	if !strings.Contains(unmetText(p), part) {
		s.t.Errorf("unmet = %q, want %q among it", unmetText(p), part)
	}
	for _, n := range p.Unmet {
		if n.Cure == "" {
			s.t.Errorf("%q has no cure", n.Why)
		}
	}
	if a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); a != nil || err == nil {
		s.t.Errorf("Confirm() = %v, %v, want a refusal", a, err)
	}
}

// TestStripFloors walks each precondition that cannot be waived.
func TestStripFloors(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	job := func(name string, finalizers ...string) string {
		return s.make(thingMade{resource: "jobs", name: name, finalizers: finalizers})
	}
	g := gateOf("kube/strip-finalizer", s.env)
	uid := job("migrate", cleaner)
	with := func(in steps.Params, key string, v steps.Value) steps.Params {
		in[key] = v
		return in
	}
	t.Run("absent", func(t *testing.T) {
		s := *s
		s.t = t
		s.refusedBy(s.preview(g, s.stripParams("job", "nobody", uid)), "is not there")
	})
	t.Run("another uid", func(t *testing.T) {
		s := *s
		s.t = t
		s.refusedBy(s.preview(g, s.stripParams("job", "migrate", "00000000-0000-0000-0000-000000000000")), "another object of the same name: its UID is "+uid)
		s.refusedBy(s.preview(g, s.stripParams("job", "migrate", "<redacted:token:0123456789abcdef>")), "it was redacted")
		s.refusedBy(s.preview(g, s.stripParams("job", "migrate", "")), "is not valid")
	})
	t.Run("no such finalizer", func(t *testing.T) {
		s := *s
		s.t = t
		s.refusedBy(s.preview(g, with(s.stripParams("job", "migrate", uid), "finalizer", steps.StringOf(another))), "has no finalizer")
	})
	t.Run("finalizer twice", func(t *testing.T) {
		s := *s
		s.t = t
		uid := job("twice", cleaner, another, cleaner)
		s.refusedBy(s.preview(g, s.stripParams("job", "twice", uid)), "2 times")
	})
	t.Run("control plane's own", func(t *testing.T) {
		s := *s
		s.t = t
		uid := job("builtin", "foregroundDeletion")
		s.refusedBy(s.preview(g, with(s.stripParams("job", "builtin", uid), "finalizer", steps.StringOf("foregroundDeletion"))), "the control plane's own")
	})
	t.Run("keeper unknown", func(t *testing.T) {
		s := *s
		s.t = t
		in := s.stripParams("job", "migrate", uid)
		delete(in, "controller")
		p := s.preview(g, in)
		s.refusedBy(p, "is not known")
		if !strings.Contains(p.Unmet[0].Cure, "-p controller=") {
			t.Errorf("cure = %q", p.Unmet[0].Cure)
		}
		s.refusedBy(s.preview(g, with(s.stripParams("job", "migrate", uid), "controller", steps.StringOf("deployment/kube-system/cleaner"))), "is not known")
	})
	t.Run("keeper alive", func(t *testing.T) {
		s := *s
		s.t = t
		s.runs("cleaner")
		p := s.preview(g, with(s.stripParams("job", "migrate", uid), "controller", steps.StringOf("deployment/cleaner")))
		s.refusedBy(p, "is alive")
	})
	t.Run("decoy", func(t *testing.T) {
		s := *s
		s.t = t
		uid := s.make(thingMade{resource: "jobs", name: "decoy", finalizers: []string{cleaner}, labels: map[string]string{"example.com/owner": "team-b"},
			notes: map[string]string{"argocd.argoproj.io/hook-delete-policy": "HookSucceeded"}})
		s.refusedBy(s.preview(g, s.stripParams("job", "decoy", uid)), " is managed: ")
		s.refusedBy(s.preview(gateOf("kube/delete", s.env), deleteParams("job", "decoy", uid)), " is managed: ")
	})
	t.Run("one mark alone", func(t *testing.T) {
		s := *s
		s.t = t
		uid := s.make(thingMade{resource: "jobs", name: "labelled", finalizers: []string{cleaner}, labels: map[string]string{"example.com/owner": "team-b"}})
		if p := s.preview(g, s.stripParams("job", "labelled", uid)); len(p.Unmet) > 0 || !strings.Contains(steps.Find(p.Shown, "marks"), "team-b") {
			t.Errorf("unmet = %q, shown = %v", unmetText(p), p.Shown)
		}
	})
	t.Run("namespace", func(t *testing.T) {
		s := *s
		s.t = t
		ns := s.must("GET", "/api/v1/namespaces/"+s.ns.Name, cluster.AsJSON, "")["metadata"].(map[string]any)
		in := s.stripParams("namespace", s.ns.Name, ns["uid"].(string))
		s.refusedBy(s.preview(g, in), "A namespace is never stripped")
		s.refusedBy(s.preview(gateOf("kube/delete", s.env), deleteParams("ns", s.ns.Name, ns["uid"].(string))), "takes everything inside it")
	})
	t.Run("names that are none", func(t *testing.T) {
		for _, name := range []string{"", "a/b", "../a", "a%2fb", "a?x=1", "-a"} {
			if _, err := g.Preview(t.Context(), s.stripParams("job", name, uid), &scrap{}); err == nil {
				t.Errorf("a preview of %q went through", name)
			}
		}
	})
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %v", w)
	}
}

// runs makes a Deployment that says of itself that it is ready.
func (s *stage) runs(name string) {
	s.t.Helper()
	path := "/apis/apps/v1/namespaces/" + s.ns.Name + "/deployments"
	s.must("POST", path, cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"paused":true,"replicas":1,"selector":{"matchLabels":{"app":%q}},
		"template":{"metadata":{"labels":{"app":%q}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`, name, name, name))
	s.must("POST", "/api/v1/namespaces/"+s.ns.Name+"/pods", cluster.AsJSON, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":%q}},"spec":{"nodeName":"nowhere","containers":[{"name":"a","image":"b"}]}}`, name, name))
	for { // the controller writes the status too
		m := s.must("PATCH", path+"/"+name+"/status", "application/merge-patch+json", `{"status":{"observedGeneration":9,"replicas":1,"readyReplicas":1,"availableReplicas":1}}`)
		if m["status"].(map[string]any)["readyReplicas"] == 1.0 {
			return
		}
	}
}

// TestDeleteFloors walks those of the delete alone.
func TestDeleteFloors(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	g := gateOf("kube/delete", s.env)
	held := s.make(thingMade{resource: "jobs", name: "held", finalizers: []string{cleaner}})
	s.refusedBy(s.preview(g, deleteParams("job", "held", held)), "would hold job/")
	s.condemn("jobs", "held")
	s.refusedBy(s.preview(g, deleteParams("job", "held", held)), "is being deleted already")
	s.refusedBy(s.preview(g, deleteParams("job", "nobody", held)), "is not there")
	// What the control plane takes away by itself is no reason to refuse.
	code, b := s.raw("POST", s.path("persistentvolumeclaims", ""), cluster.AsJSON, `{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, b)
	}
	var claim struct {
		Metadata struct {
			UID        string
			Finalizers []string
		}
	}
	if err := json.Unmarshal(b, &claim); err != nil || len(claim.Metadata.Finalizers) != 1 {
		t.Fatalf("claim = %s, %v", b, err)
	}
	p := s.preview(g, deleteParams("pvc", "data", claim.Metadata.UID))
	if len(p.Unmet) > 0 || !strings.Contains(p.Effect, "The data of its volume goes with it") {
		t.Errorf("unmet = %q, effect = %q", unmetText(p), p.Effect)
	}
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %v", w)
	}
}

// reader is an account that may read and nothing else.
func (s *stage) reader() steps.Env {
	s.t.Helper()
	ns := s.ns.Name
	s.must("POST", "/api/v1/namespaces/"+ns+"/serviceaccounts", cluster.AsJSON, `{"metadata":{"name":"reader"}}`)
	s.must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/"+ns+"/roles", cluster.AsJSON, `{"metadata":{"name":"reader"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["get","list"]}]}`)
	s.must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/"+ns+"/rolebindings", cluster.AsJSON, fmt.Sprintf(
		`{"metadata":{"name":"reader"},"subjects":[{"kind":"ServiceAccount","name":"reader","namespace":%q}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"}}`, ns))
	m := s.must("POST", "/api/v1/namespaces/"+ns+"/serviceaccounts/reader/token", cluster.AsJSON, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":3600}}`)
	return s.as(m["status"].(map[string]any)["token"].(string), s.lab.URL(), nil)
}

// as is an environment with a token of one's own, at an address of one's own.
func (s *stage) as(token, server string, ca []byte) steps.Env {
	s.t.Helper()
	cfg, err := clientcmd.LoadFromFile(s.ns.OperatorKubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range cfg.Clusters {
		if c.Server = server; ca != nil {
			c.CertificateAuthorityData = ca
		}
	}
	for _, u := range cfg.AuthInfos {
		if token != "" {
			u.Token = token
		}
	}
	path := filepath.Join(s.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		s.t.Fatal(err)
	}
	env := s.env
	env.Kubeconfig = path
	return env
}

// TestDenied rehearses and acts with an account that may only read.
func TestDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "jobs", name: "migrate", finalizers: []string{cleaner}})
	other := s.make(thingMade{resource: "jobs", name: "other"})
	env := s.reader()
	strip, del := gateOf("kube/strip-finalizer", env), gateOf("kube/delete", env)
	var p steps.Preview
	for { // the authorizer learns of the right to read in a moment
		var err error
		p, err = strip.Preview(t.Context(), s.stripParams("job", "migrate", uid), &scrap{})
		if err == nil && !strings.Contains(unmetText(p), "Whether the controller") {
			break
		}
		if err != nil && !errors.Is(err, steps.ErrDenied) {
			t.Fatal(err)
		}
	}
	s.refusedBy(p, "cannot patch resource")
	if !strings.Contains(p.Unmet[0].Cure, "right to patch") {
		t.Errorf("cure = %q", p.Unmet[0].Cure)
	}
	if got := steps.Find(p.Target, act.KeyCluster); !strings.Contains(got, "forbidden") {
		t.Errorf("cluster = %q", got)
	}
	s.refusedBy(s.preview(del, deleteParams("job", "other", other)), "cannot delete resource")
	// The right may be lost between the re-read and the act.
	_, a := s.approve(gateOf("kube/strip-finalizer", s.env), s.stripParams("job", "migrate", uid))
	before := s.content("jobs", "migrate")
	o, err := strip.Act(t.Context(), a, &scrap{})
	if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "(403)") || !strings.Contains(o.Response, "It is as it was") {
		t.Errorf("Act() = %+v, %v, want refused", o, err)
	}
	if s.content("jobs", "migrate") != before {
		t.Error("the object changed")
	}
}
