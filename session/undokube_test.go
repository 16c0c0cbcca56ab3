package session_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// withDelete is the test world and the real gate that deletes.
type withDelete struct{ *world }

func (w withDelete) Lookup(name string) (steps.Kind, bool) {
	if name == "kube/delete" {
		return catalog.New().Lookup(name)
	}
	return w.world.Lookup(name)
}

// api is an administrator of the lab.
type api struct {
	t      *testing.T
	client *http.Client
	base   string
}

func (a api) send(method, path, body string) (int, map[string]any) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		a.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, b)
	}
	return resp.StatusCode, m
}

// onLab is a stage whose gate deletes one real object.
func onLab(t *testing.T, resource, name, body string) (*stage, api, string) {
	t.Helper()
	opts, err := lab.ForTests("session-undo")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ns, err := l.Namespace(t.Context(), "undo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.VacateNamespace(context.Background(), ns.Name) })
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := api{t, client, l.URL()}
	collection := "/api/v1/namespaces/" + ns.Name + "/" + resource
	if strings.HasPrefix(resource, "jobs") {
		collection = "/apis/batch/v1/namespaces/" + ns.Name + "/jobs"
	}
	code, made := a.send("POST", collection, body)
	if code != http.StatusCreated {
		t.Fatalf("making %s: %d %v", name, code, made)
	}
	st := newStage(t)
	st.w.lock = made["metadata"].(map[string]any)["uid"].(string)
	st.cfg.Catalog = withDelete{st.w}
	st.cfg.Now = time.Now // skew against the server is judged
	st.cfg.Env = steps.Env{Kubeconfig: ns.OperatorKubeconfig, Home: t.TempDir(), Now: time.Now, Version: "test"}
	src := strings.Replace(book, "gate: test/unlock\n    with: {id: \"${facts.lock.id}\"}",
		fmt.Sprintf("gate: kube/delete\n    with: {resource: %s, name: %s, namespace: %s, uid: \"${facts.lock.id}\"}", resource, name, ns.Name), 1)
	if st.rb, err = runbooks.Parse("test-lock.yaml", []byte(src), st.cfg.Catalog); err != nil {
		t.Fatal(err)
	}
	return st, a, collection
}

// deleted takes the gate and returns what its act can be undone from.
func deleted(t *testing.T, st *stage, dir *string) triage.GateState {
	t.Helper()
	s := st.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, triage.Intent{Kind: triage.DoConfirm, Step: gateID, Typed: s.Snapshot().Gate.Preview.Phrase})
	*dir = s.Snapshot().Bundle
	g := s.Snapshot().State.Gates[gateID]
	if g.Phase != triage.GateDone || g.Kept == nil {
		t.Fatalf("the gate is %s: %s %s", g.Phase, g.Response, g.Why)
	}
	return g
}

// A Secret that a gate deleted is given back by its encrypted copy, which the
// server takes as it is. Nothing else on the disk holds its value.
func TestDeletedSecretComesBack(t *testing.T) {
	t.Parallel()
	const planted, other = "Zt7-planted-in-a-Secret-93kq", "Yq2-planted-in-a-label-like-place"
	enc := base64.StdEncoding.EncodeToString
	st, a, collection := onLab(t, "secrets", "db", `{"metadata":{"name":"db","labels":{"app":"web"},"annotations":{"note":"kept"}},"type":"Opaque",`+
		`"data":{"password":"`+enc([]byte(planted))+`","pem":"`+enc([]byte(other))+`"}}`)
	id := st.key(t)
	var bundle string
	g := deleted(t, st, &bundle)
	if code, _ := a.send("GET", collection+"/db", ""); code != http.StatusNotFound {
		t.Fatalf("after the act: %d", code)
	}
	if code, m := a.send("POST", collection, unlocked(t, g.Kept.Path, id)); code != http.StatusCreated {
		t.Fatalf("undo: %d %v", code, m)
	}
	_, back := a.send("GET", collection+"/db", "")
	meta := back["metadata"].(map[string]any)
	if back["data"].(map[string]any)["password"] != enc([]byte(planted)) || back["data"].(map[string]any)["pem"] != enc([]byte(other)) || back["type"] != "Opaque" ||
		meta["labels"].(map[string]any)["app"] != "web" || meta["annotations"].(map[string]any)["note"] != "kept" || meta["uid"] == st.w.lock {
		t.Errorf("what came back = %v", back)
	}
	clean(t, filepath.Dir(st.cfg.Dir), planted, other)
}

// A Job without secrets needs no key: its copy in the bundle makes it again,
// without what the server had added to it.
func TestDeletedJobComesBackFromTheBundle(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	st, a, collection := onLab(t, "jobs.batch", "migrate", `{"metadata":{"name":"migrate","labels":{"app":"web"}},"spec":{"suspend":true,"template":{"metadata":{"labels":{"app":"web"}},`+
		`"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b","env":[{"name":"COLOUR","value":"blue"}]}]}}}}`)
	var bundle string
	g := deleted(t, st, &bundle)
	if g.Kept.Path != "" || !strings.HasPrefix(g.Kept.Command, "kubectl ") {
		t.Fatalf("kept = %+v", g.Kept)
	}
	text, err := os.ReadFile(filepath.Join(bundle, "blobs", "sha256", g.Kept.Blob[:2], g.Kept.Blob))
	if err != nil {
		t.Fatal(err)
	}
	for {
		if code, _ := a.send("GET", collection+"/migrate", ""); code == http.StatusNotFound {
			break
		}
	}
	if code, m := a.send("POST", collection, string(text)); code != http.StatusCreated {
		t.Fatalf("undo: %d %v", code, m)
	}
}
