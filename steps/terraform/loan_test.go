package terraform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
)

const ownKubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://kube.example:6443"}}]
users: [{name: u, user: {token: mine-and-mine-alone}}]
`

// A directory that nobody trusts may name the operator's own kubeconfig, but not
// switch off what keeps its token from whoever stands in the middle.
func TestUntrustedDirectoryCannotWeakenTLSOfOwnCredentials(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(name, []byte(ownKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		config  map[string]any
		trusted bool
		refused bool
	}{
		{name: "plain"},
		{name: "insecure off", config: map[string]any{"insecure": false}},
		{name: "insecure", config: map[string]any{"insecure": true}, refused: true},
		{name: "own CA", config: map[string]any{"cluster_ca_certificate": "-----BEGIN CERTIFICATE-----"}, refused: true},
		{name: "insecure and trusted", config: map[string]any{"insecure": true}, trusted: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env := steps.Env{Kubeconfig: name, Trusted: func(string) error {
				if tc.trusted {
					return nil
				}
				return errors.New("nobody looked at it")
			}}
			config := map[string]any{"config_path": name}
			for k, v := range tc.config {
				config[k] = v
			}
			_, err := backendSettings{env: env, w: workdir{dir: "/module", config: config}}.restConfig()
			if got := err != nil && strings.Contains(err.Error(), "credentials of yours"); got != tc.refused || (err != nil && !got) {
				t.Fatalf("restConfig() = %v, want a refusal: %t", err, tc.refused)
			}
		})
	}
}
