package backend

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// TestAnotherWayToAnUntoldCluster: where the UID may not be read, a kubeconfig that
// goes through another proxy is another target, and the gate that was shown falls
// back. Where the UID is read, it says which cluster it is.
func TestAnotherWayToAnUntoldCluster(t *testing.T) {
	t.Parallel()
	answer := http.StatusForbidden
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer)
		_, _ = w.Write([]byte(`{"kind":"Namespace","metadata":{"name":"kube-system","uid":"uid-1"}}`))
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "config")
	uid := func(proxy string) string {
		text := strings.ReplaceAll(ownKubeconfig, `"https://kube.example:6443"`, `"http://kube.example:6443", proxy-url: "`+proxy+`"`)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := steps.Env{Kubeconfig: file, Now: time.Now, Trusted: func(string) error { return nil }}
		k, err := newKubernetes(env, module.Workdir{Dir: t.TempDir(), Space: "default", Backend: "kubernetes", Config: map[string]any{"config_path": file, "secret_suffix": "s"}}, steps.SecretsOnly(func(string) {}))
		if err != nil {
			t.Fatal(err)
		}
		_, uid, err := k.Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return uid
	}
	other := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	first, second := uid(server.URL), uid(other)
	if first == second || !strings.Contains(first, server.URL) {
		t.Errorf("by %s it is %q, by %s %q: the gate would not fall back", server.URL, first, other, second)
	}
	answer = http.StatusOK
	if first, second := uid(server.URL), uid(other); first != second || first != "uid-1" {
		t.Errorf("%q and %q, though the UID was read", first, second)
	}
}
