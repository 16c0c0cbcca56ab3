package backend

import (
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

const ownKubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://kube.example:6443"}}]
users: [{name: u, user: {token: mine-and-mine-alone}}]
`

// An untrusted directory may name the operator's own kubeconfig, but not
// switch off what keeps its token from a man in the middle.
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
		{name: "a context", config: map[string]any{"config_context": "c"}},
		{name: "a user for another cluster", config: map[string]any{"config_context_auth_info": "u"}, refused: true},
		{name: "a cluster for another user", config: map[string]any{"config_context_cluster": "c"}, refused: true},
		{name: "a cluster for another user, trusted", config: map[string]any{"config_context_cluster": "c"}, trusted: true},
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
			_, err := kubeSettings{settings{env: env, w: module.Workdir{Dir: "/module", Config: config}}}.restConfig()
			if got := err != nil && strings.Contains(err.Error(), "credentials of yours"); got != tc.refused || (err != nil && !got) {
				t.Fatalf("restConfig() = %v, want a refusal: %t", err, tc.refused)
			}
		})
	}
}

// Each backend of an untrusted directory is asked for at a server that the
// directory names: what the directory brings may go there, nothing else.
func TestUntrustedDirectoryBorrowsNoCredentials(t *testing.T) {
	t.Parallel()
	const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	home, ca := t.TempDir(), authority(t)
	for name, text := range map[string]string{"token": "ey.mine", "google.json": `{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}`, "passes": "*:*:*:*:mine", "key": key, "ca": ca} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(home, name) }
	s3 := func(more map[string]any) map[string]any {
		return with(map[string]any{"bucket": "b", "key": "k", "region": "r-1", "endpoints": map[string]any{"s3": "https://their.example"}}, more)
	}
	gcs := func(more map[string]any) map[string]any {
		return with(map[string]any{"bucket": "b", "storage_custom_endpoint": "https://their.example"}, more)
	}
	azure := map[string]any{"storage_account_name": "theirs", "container_name": "c", "key": "k"}
	inline := `{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}`
	both := map[string]any{"access_key": "A", "secret_key": "S"}
	web := map[string]any{"assume_role_with_web_identity": map[string]any{"role_arn": "arn:aws:iam::123456789012:role/r", "web_identity_token_file": file("token")}}
	for _, tc := range []struct {
		name, backend string
		config        map[string]any
		env           []string
		lent          bool
	}{
		{"s3, its own keys", "s3", s3(both), nil, false},
		{"s3, its secret and my id", "s3", s3(map[string]any{"secret_key": "S"}), []string{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=mine"}, true},
		{"s3, my keys", "s3", s3(nil), []string{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=mine"}, true},
		{"s3, my keys, AWS itself", "s3", map[string]any{"bucket": "b", "key": "k", "region": "r-1"}, []string{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=mine"}, false},
		{"s3, my customer key", "s3", s3(both), []string{"AWS_SSE_CUSTOMER_KEY=" + key}, true},
		{"s3, a token of mine", "s3", s3(with(both, web)), nil, true},
		{"gcs, its own credentials", "gcs", gcs(map[string]any{"credentials": inline}), nil, false},
		{"gcs, its own credentials and my token", "gcs", gcs(map[string]any{"credentials": inline}), []string{"GOOGLE_OAUTH_ACCESS_TOKEN=mine"}, true},
		{"gcs, a file of mine", "gcs", gcs(map[string]any{"credentials": file("google.json")}), nil, true},
		{"gcs, my key", "gcs", gcs(map[string]any{"credentials": inline}), []string{"GOOGLE_ENCRYPTION_KEY=" + key}, true},
		{"gcs, a key in a file of mine", "gcs", gcs(map[string]any{"credentials": inline, "encryption_key": file("key")}), nil, true},
		{"azurerm, my access key", "azurerm", azure, []string{"ARM_ACCESS_KEY=" + key}, false},
		{"azurerm, my token", "azurerm", azure, []string{"ARM_SAS_TOKEN=sv=1&sig=mine"}, true},
		{"azurerm, its token", "azurerm", with(azure, map[string]any{"sas_token": "sv=1&sig=theirs"}), nil, false},
		{"azurerm, my customer key", "azurerm", with(azure, map[string]any{"access_key": key}), []string{"ARM_CUSTOMER_PROVIDED_KEY=" + key}, true},
		{"consul, its token", "consul", map[string]any{"address": "their.example:8500", "path": "p", "access_token": "t"}, []string{"CONSUL_HTTP_TOKEN=mine"}, false},
		{"consul, my token", "consul", map[string]any{"address": "their.example:8500", "path": "p"}, []string{"CONSUL_HTTP_TOKEN=mine"}, true},
		{"http, my password", "http", map[string]any{"address": "https://their.example/s"}, []string{"TF_HTTP_USERNAME=u", "TF_HTTP_PASSWORD=mine"}, true},
		{"http, its password", "http", map[string]any{"address": "https://their.example/s", "username": "u", "password": "p"}, []string{"TF_HTTP_PASSWORD=mine"}, false},
		{"consul, my token and server, its authority", "consul", map[string]any{"path": "p", "ca_file": file("ca")}, []string{"CONSUL_HTTP_ADDR=https://mine.example:8501", "CONSUL_HTTP_TOKEN=mine"}, true},
		{"http, my password and server, its authority", "http", map[string]any{"client_ca_certificate_pem": ca}, []string{"TF_HTTP_ADDRESS=https://mine.example/s", "TF_HTTP_USERNAME=u", "TF_HTTP_PASSWORD=mine"}, true},
		{"s3, my keys, AWS itself, its authority", "s3", map[string]any{"bucket": "b", "key": "k", "region": "r-1", "custom_ca_bundle": file("ca")}, []string{"AWS_ACCESS_KEY_ID=A", "AWS_SECRET_ACCESS_KEY=mine"}, true},
		{"pg, my password", "pg", map[string]any{"conn_str": "postgres://u@their.example/d"}, []string{"PGPASSWORD=mine"}, true},
		{"pg, its password", "pg", map[string]any{"conn_str": "postgres://u:p@their.example/d"}, []string{"PGPASSWORD=mine"}, false},
		{"pg, my passwords", "pg", map[string]any{"conn_str": "host=their.example user=u passfile=" + file("passes")}, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, trusted := range []bool{false, true} {
				env := steps.Env{Home: home, Environ: tc.env, Trusted: func(string) error {
					if trusted {
						return nil
					}
					return errors.New("nobody looked at it")
				}}
				_, err := Open(t.Context(), env, module.Workdir{Dir: "/module", Backend: tc.backend, Space: "default", Selected: "default", Config: tc.config}, steps.SecretsOnly(func(string) {}))
				lent := err != nil && strings.Contains(err.Error(), "credentials of yours")
				if want := tc.lent && !trusted; lent != want {
					t.Errorf("trusted %t: %v, want a refusal: %t", trusted, err, want)
				}
			}
		})
	}
}

// with returns settings with some more.
func with(config, more map[string]any) map[string]any {
	out := maps.Clone(config)
	maps.Copy(out, more)
	return out
}

// authority is a certificate in PEM.
func authority(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}
