package drills_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/session"
	"handrail/session/walk"
	"handrail/triage"
)

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"

// unserveAnswers is the call on a namespace that a dead API service holds.
const unserveAnswers = `apiVersion: handrail/v1
kind: Answers
runbook: stuck-finalizer
answers:
  wanted: {value: gone, how: "nothing in Git makes it"}
  keeper: {value: gone, how: "its API server was uninstalled with the release of May"}
  leak: {value: accepted, how: "platform: nobody calls that API any more"}
manual:
  keeper_log: "its API server has no Pod, and the log store has nothing of it"
  notice: "#platform-oncall, told the name of the API service; nobody objected"
conclude: {domain: accept, owner: accept, mutation: accept, consistent: accept, class: accept, reverts: accept}
gates:
  unserve: {phrase: "delete apiservice/v1.dead.example.com"}
`

// TestUnserve walks stuck-finalizer to its gate for a dead API service, in a
// cluster of its own: such a one holds every namespace that is to go, those of
// other tests among them. So no drill has it.
func TestUnserve(t *testing.T) {
	t.Parallel()
	_, c := world(t)
	opts, err := lab.ForTests("unserve")
	if err != nil {
		t.Fatal(err)
	}
	opts.Dir = filepath.Join(t.TempDir(), "lab")
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), lab.Down(context.Background(), opts)); err != nil {
			t.Error(err)
		}
	})
	ns, err := l.Namespace(t.Context(), "platform")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Allow(t.Context(), ns.Name, "operator", "platform", true, []lab.Rule{
		{Group: "*", Resources: []string{"*"}, Verbs: []string{"get", "list"}},
		{Group: "apiregistration.k8s.io", Resources: []string{"apiservices"}, Verbs: []string{"delete"}},
	}); err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]string{
		apiServices: `{"metadata":{"name":"v1.dead.example.com"},"spec":{"group":"dead.example.com","version":"v1","groupPriorityMinimum":100,"versionPriority":100,
			"insecureSkipTLSVerify":true,"service":{"namespace":"` + ns.Name + `","name":"gone"}}}`,
		"/api/v1/namespaces": `{"metadata":{"name":"old"}}`,
	} {
		order(t, l.Kubeconfig(), http.MethodPost, path, body)
	}
	until(t, "the aggregator says that it is dead", func() bool {
		var api struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		ask(t, l.Kubeconfig(), apiServices+"/v1.dead.example.com", &api)
		return len(api.Status.Conditions) == 1 && api.Status.Conditions[0].Status == "False"
	})
	order(t, l.Kubeconfig(), http.MethodDelete, "/api/v1/namespaces/old", "")
	until(t, "the namespace hangs on it", func() bool {
		var old struct {
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		ask(t, l.Kubeconfig(), "/api/v1/namespaces/old", &old)
		for _, is := range old.Status.Conditions {
			if is.Type == "NamespaceDeletionDiscoveryFailure" && is.Status == "True" {
				return true
			}
		}
		return false
	})

	rb, err := c.Library("stuck-finalizer")
	if err != nil {
		t.Fatal(err)
	}
	params, err := rb.Bind(map[string]string{"space": "old"})
	if err != nil {
		t.Fatal(err)
	}
	c.Env.Kubeconfig = ns.OperatorKubeconfig
	call, err := session.Start(t.Context(), c, session.Begin{Runbook: rb, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := call.Close(); err != nil {
			t.Error(err)
		}
	}()
	answers, err := walk.ParseAnswers("unserve", []byte(unserveAnswers))
	if err != nil {
		t.Fatal(err)
	}
	shown, enough := "", errors.New("it went as far as the gate")
	by := walk.Script{Answers: answers, Talk: tell{t}}
	by.Before = func(_ context.Context, in triage.Intent) error {
		switch {
		case in.Kind == triage.DoConfirm:
			raw, err := json.Marshal(call.Snapshot().State.Gates[in.Step].Shown)
			shown = string(raw)
			return err
		case strings.HasSuffix(in.Step, "/stripped"):
			return enough
		}
		return nil
	}
	if got, err := walk.Play(t.Context(), call, by); !errors.Is(err, enough) {
		t.Fatalf("Play() = %+v, %v", got, err)
	}
	gate := call.Snapshot().State.Gates["stuck-finalizer/unserve"]
	if gate.Phase != triage.GateDone || !strings.Contains(shown, "delete apiservice/v1.dead.example.com") {
		t.Errorf("the gate is %+v, and showed %s", gate, shown)
	}
	until(t, "the namespace goes", func() bool { return ask(t, l.Kubeconfig(), "/api/v1/namespaces/old", nil) == http.StatusNotFound })
	events, err := l.AuditEvents(t.Context(), lab.AuditFilter{User: ns.Operator})
	if err != nil {
		t.Fatal(err)
	}
	var writes []string
	for _, e := range events {
		if e.Persists() {
			writes = append(writes, e.Verb+" "+e.Resource+" "+e.Name)
		}
	}
	if len(writes) != 1 || writes[0] != "delete apiservices v1.dead.example.com" {
		t.Errorf("the operator wrote %q", writes)
	}
}

// order sends one request that must go well.
func order(t *testing.T, kubeconfig, method, path, body string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, cfg.Host+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s", method, path, res.Status)
	}
}
