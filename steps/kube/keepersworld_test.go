package kube

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/stepstest"
)

// fields is a part of an object.
type fields = map[string]any

// keepersWorld is a namespace of the real API server, with the cluster's admin
// to set the stage and the operator's account to look.
type keepersWorld struct {
	t     *testing.T
	lab   *lab.Lab
	ns    string
	names lab.Namespace
	env   steps.Env
	admin *http.Client
	url   string
}

func newKeepersWorld(t *testing.T) *keepersWorld {
	t.Helper()
	opts, err := lab.ForTests("steps-kube-" + strings.ToLower(rand.Text()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
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

// another makes one more namespace; what its finalizers hold is freed at the end
// by the tests that set them.
func (w *keepersWorld) another() lab.Namespace {
	w.t.Helper()
	ns, err := w.lab.Namespace(w.t.Context(), "keepers")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.lab.VacateNamespace(context.Background(), ns.Name) })
	return ns
}

func (w *keepersWorld) as(kubeconfig string) steps.Env {
	return steps.Env{Home: w.t.TempDir(), Now: time.Now, Kubeconfig: kubeconfig, Version: "test"}
}

func (w *keepersWorld) root() steps.Env {
	env := w.as(w.lab.Kubeconfig())
	env.Namespace = w.ns
	return env
}

func (w *keepersWorld) client(env steps.Env) *cluster.Client {
	w.t.Helper()
	c, err := cluster.Connect(env, steps.SecretsOnly(nil))
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// send makes one request as the admin and fails the test when it is refused.
func (w *keepersWorld) send(method, path, media string, in any) fields {
	w.t.Helper()
	code, out, err := w.try(method, path, media, in)
	if err == nil && code/100 != 2 {
		err = fmt.Errorf("%s %s: %d %v", method, path, code, out["message"])
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *keepersWorld) try(method, path, media string, in any) (int, fields, error) {
	body, isRaw := in.([]byte)
	if !isRaw && in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return 0, nil, err
		}
	}
	// A test that ended still cleans up.
	req, err := http.NewRequestWithContext(context.Background(), method, w.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "hook-cleaner/1")
	resp, err := w.admin.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var out fields
	err = json.NewDecoder(resp.Body).Decode(&out)
	return resp.StatusCode, out, err
}

func (w *keepersWorld) create(path string, body fields) fields {
	w.t.Helper()
	return w.send(http.MethodPost, path, "application/json", body)
}

func (w *keepersWorld) merge(path string, body fields) fields {
	w.t.Helper()
	return w.send(http.MethodPatch, path, "application/merge-patch+json", body)
}

func (w *keepersWorld) remove(path string, options fields) {
	w.t.Helper()
	w.send(http.MethodDelete, path, "application/json", options)
}

func (w *keepersWorld) read(path string) fields {
	w.t.Helper()
	return w.send(http.MethodGet, path, "", nil)
}

// freed takes the finalizers off at the end, so that the namespace can go.
func (w *keepersWorld) freed(path string) {
	w.t.Cleanup(func() {
		_, _, _ = w.try(http.MethodPatch, path, "application/merge-patch+json", fields{"metadata": fields{"finalizers": nil}})
	})
}

// until waits for the controllers of the cluster; it looks every now and then
// until they have done their work or the time is over.
func (w *keepersWorld) until(what string, done func() bool) {
	w.t.Helper()
	limit, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-limit.Done():
			w.t.Fatalf("never seen: %s", what)
		}
	}
}

func (w *keepersWorld) in(group, plural, name string) string {
	p := "/api/v1"
	if group != "" {
		p = "/apis/" + group
	}
	p += "/namespaces/" + w.ns + "/" + plural
	if name != "" {
		p += "/" + name
	}
	return p
}

// seen resolves and reads one object with the account of env.
func (w *keepersWorld) seen(c *cluster.Client, what, name string) (cluster.Target, cluster.Object) {
	w.t.Helper()
	r, err := c.Find(w.t.Context(), what)
	if err != nil {
		w.t.Fatal(err)
	}
	t := cluster.Target{Resource: r, Name: name}
	if r.Namespaced {
		t.Namespace = w.ns
	}
	o, err := c.Get(w.t.Context(), r, t.Namespace, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return t, o
}

// probe runs a kind and checks that it declares what it says.
func (w *keepersWorld) probe(env steps.Env, kind, what, name string, more ...string) steps.Observation {
	w.t.Helper()
	in := steps.Params{"resource": steps.StringOf(what), "name": steps.StringOf(name)}
	for i := 0; i+1 < len(more); i += 2 {
		in[more[i]] = steps.StringOf(more[i+1])
	}
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		obs, err := stepstest.Observe(w.t.Context(), k.Reads(env), k.Facts, in, steps.SecretsOnly(nil))
		if err != nil {
			w.t.Fatal(err)
		}
		return obs
	}
	w.t.Fatalf("no kind %q", kind)
	return steps.Observation{}
}

// limited makes an account with the rights of rules alone.
func (w *keepersWorld) limited(name string, rules ...fields) steps.Env {
	w.t.Helper()
	const rbac = "rbac.authorization.k8s.io/v1"
	w.create(w.in("", "serviceaccounts", ""), fields{"metadata": fields{"name": name}})
	w.create(w.in(rbac, "roles", ""), fields{"metadata": fields{"name": name}, "rules": rules})
	w.create(w.in(rbac, "rolebindings", ""), fields{"metadata": fields{"name": name},
		"subjects": []fields{{"kind": "ServiceAccount", "name": name, "namespace": w.ns}},
		"roleRef":  fields{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}})
	minted := w.create(w.in("", "serviceaccounts", name)+"/token", fields{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": fields{"expirationSeconds": 3600}})
	token := minted["status"].(fields)["token"].(string)
	w.until("the rights of "+name, func() bool {
		_, out, err := w.try(http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "application/json", fields{
			"spec": fields{"user": "system:serviceaccount:" + w.ns + ":" + name, "resourceAttributes": fields{
				"namespace": w.ns, "verb": rules[0]["verbs"].([]string)[0], "group": rules[0]["apiGroups"].([]string)[0], "resource": rules[0]["resources"].([]string)[0]}}})
		return err == nil && out["status"].(fields)["allowed"] == true
	})
	config, err := clientcmd.LoadFromFile(w.lab.Kubeconfig())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Token, user.TokenFile = token, ""
		user.ClientCertificate, user.ClientCertificateData, user.ClientKey, user.ClientKeyData = "", nil, "", nil
	}
	for _, c := range config.Contexts {
		c.Namespace = w.ns
	}
	path := filepath.Join(w.t.TempDir(), name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		w.t.Fatal(err)
	}
	return w.as(path)
}

func may(group, resource string, verbs ...string) fields {
	return fields{"apiGroups": []string{group}, "resources": []string{resource}, "verbs": verbs}
}

// definitions are the definitions that this process has put into the lab.
type definitions struct {
	once sync.Once
	err  error
}

var gitops definitions

// definitions puts the real definitions of Argo CD and Flux into the lab, and
// leaves them there: other tests may use them too.
func (w *keepersWorld) definitions() {
	w.t.Helper()
	gitops.once.Do(func() { gitops.err = w.define(pinned()) })
	if gitops.err != nil {
		w.t.Fatal(gitops.err)
	}
}

func (w *keepersWorld) define(pins []pin) error {
	for _, m := range pins {
		dir, err := m.download(context.Background())
		if err != nil {
			return err
		}
		for _, file := range m.files {
			raw, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return err
			}
			for doc := range strings.SplitSeq(string(raw), "\n---\n") {
				if !strings.Contains(doc, "\n  name: "+m.names[file]+"\n") {
					continue
				}
				if err := w.establish(m.names[file], []byte(doc)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// establish applies one definition and waits until objects of it can be made.
func (w *keepersWorld) establish(name string, definition any) error {
	path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name
	code, out, err := w.try(http.MethodPatch, path+"?fieldManager=handrail-tests&force=true", "application/apply-patch+yaml", definition)
	if err != nil || code/100 != 2 {
		return fmt.Errorf("applying %s: %d %v %w", name, code, out["message"], err)
	}
	w.until(name, func() bool {
		_, out, err := w.try(http.MethodGet, path, "", nil)
		raw, _ := json.Marshal(out["status"])
		return err == nil && strings.Contains(string(raw), `"reason":"InitialNamesAccepted","status":"True","type":"Established"`)
	})
	return nil
}
