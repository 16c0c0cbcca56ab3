package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"handrail/steps"
)

// TestTheWayIsPartOfTheCluster: what the kubeconfig puts between is told to the
// pin, without the password of a proxy.
func TestTheWayIsPartOfTheCluster(t *testing.T) {
	t.Parallel()
	for with, want := range map[string]string{
		"":                                      "",
		`, proxy-url: "http://u:pw@proxy:3128"`: "proxy http://proxy:3128",
		`, tls-server-name: inner`:              "as inner",
		`, proxy-url: "socks5://p", tls-server-name: inner`: "proxy socks5://p, as inner",
	} {
		file := filepath.Join(t.TempDir(), "config")
		text := `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
 clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"` + with + `}}], users: [{name: u, user: {token: t}}]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Load(steps.Env{Kubeconfig: file})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.cluster().Way; got != want {
			t.Errorf("%s: %q, want %q", with, got, want)
		}
	}
}
