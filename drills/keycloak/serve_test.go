package keycloak

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills/bucket"
)

// TestServerEndsWithItsFolder: a drill whose files were removed by hand leaves no server behind.
func TestServerEndsWithItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keycloak")
	if _, err := Prepare(dir, "robot"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), dir) }()
	for {
		if _, err := bucket.AddressIn(dir); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before it listened: %v", err)
		default:
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}

// TestAnswers: scopes and roles of a client, as the documentation of the admin API has them, and nothing beside them.
func TestAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words, err := Prepare(dir, Robot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, dir) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	addr := ""
	for addr == "" {
		addr, _ = bucket.AddressIn(dir) // not yet
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	token := ""
	ask := func(method, path, kind, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(resp.StatusCode, " ", string(raw))
	}
	form := url.Values{"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {Robot}, "password": {words[Robot]}}
	_, rest, _ := strings.Cut(ask("POST", "/realms/master/protocol/openid-connect/token", "application/x-www-form-urlencoded", form.Encode()), `"access_token":"`)
	if token, _, _ = strings.Cut(rest, `"`); token == "" {
		t.Fatal("it gave no token")
	}
	const realm = `{"strategy":"OVERWRITE","realm":{"realm":"primary","roles":{"realm":[{"name":"reader"}]},
"clients":[{"id":"c-1","clientId":"gateway","defaultClientScopes":[],"optionalClientScopes":["extra"]},{"id":"c-2","clientId":"timeline"}],
"clientScopes":[{"id":"s-1","name":"verified"},{"id":"s-2","name":"extra"},{"id":"s-3","name":"assertion","protocol":"saml"}],
"clientScopeMappings":{"timeline":[{"client":"gateway","roles":["writer"]}]}}}`
	if got := ask("POST", "/stand-in/start", "", realm); got != "204 " {
		t.Fatal(got)
	}
	const at = "/admin/realms/primary/clients/c-1/"
	reader := ask("GET", "/admin/realms/primary/roles?first=0&max=100", "", "")
	if !strings.HasPrefix(reader, `200 [{"clientRole":false,"composite":false,"containerId":"primary","id":"`) {
		t.Fatal(reader)
	}
	reader = strings.TrimPrefix(reader, "200 ")
	for _, tc := range []struct{ method, path, body, want string }{
		{"PUT", at + "default-client-scopes/s-1", "", "204 "},
		{"PUT", at + "optional-client-scopes/s-1", "", "204 "}, // it is there as default, and stays so
		{"PUT", at + "default-client-scopes/s-2", "", "204 "},  // the other way
		{"PUT", at + "default-client-scopes/s-3", "", "204 "},  // of another protocol
		{"GET", "/admin/realms/primary/clients?first=0&max=1", "", `200 [{"clientId":"gateway","defaultClientScopes":["verified"],"id":"c-1","optionalClientScopes":["extra"]}]`},
		{"PUT", at + "default-client-scopes/s-9", "", `404 {"error":"Client scope not found"}`},
		{"POST", at + "default-client-scopes/s-1", "", `404 {"error":"HTTP 404 Not Found"}`},
		{"PUT", at + "realm-default-client-scopes/s-1", "", `404 {"error":"HTTP 404 Not Found"}`},
		{"PUT", "/admin/realms/primary/clients/c-9/default-client-scopes/s-1", "", `404 {"error":"Could not find client"}`},
		{"DELETE", at + "optional-client-scopes/s-2", "", "204 "},
		{"GET", at + "scope-mappings/realm", "", "200 []"},
		{"POST", at + "scope-mappings/realm", `[{"name":"reader"}]`, `404 {"error":"Role not found"}`}, // by its id
		{"POST", at + "scope-mappings/realm", `{}`, `400 {"error":"unknown_error"}`},
		{"POST", at + "scope-mappings/realm", reader, "204 "},
		{"POST", at + "scope-mappings/realm", reader, "204 "},
		{"GET", at + "scope-mappings/realm", "", "200 " + reader},
		{"DELETE", at + "scope-mappings/realm", reader, "204 "},
		{"GET", at + "scope-mappings/realm", "", "200 []"},
		{"DELETE", at + "scope-mappings/clients/c-2", "", "204 "},
		{"GET", at + "scope-mappings", "", "200 {}"},
		{"POST", at + "scope-mappings/clients/c-2", `[{"name":"writer"}]`, "204 "}, // by its name
		{"POST", at + "scope-mappings/clients/c-2", `[{"name":"reader"}]`, `404 {"error":"Role not found"}`},
		{"POST", at + "scope-mappings/clients/c-9", `[{"name":"writer"}]`, `404 {"error":"Could not find client"}`},
		{"PUT", at + "scope-mappings/clients/c-2", `[{"name":"writer"}]`, `404 {"error":"HTTP 404 Not Found"}`},
		{"POST", "/admin/realms/primary/roles", `{"name":"x"}`, `404 {"error":"HTTP 404 Not Found"}`},
		{"POST", "/admin/realms/primary/client-scopes", `{"name":"x"}`, `404 {"error":"HTTP 404 Not Found"}`},
		{"PUT", "/admin/realms/other/clients/c-1/default-client-scopes/s-1", "", `404 {"error":"Realm not found."}`},
	} {
		if got := ask(tc.method, tc.path, "application/json", tc.body); got != tc.want {
			t.Errorf("%s %s %s: %s, want %s", tc.method, tc.path, tc.body, got, tc.want)
		}
	}
	if got := ask("GET", "/admin/realms/primary/clients/c-2/roles", "", ""); !strings.Contains(got, `"containerId":"c-2"`) || !strings.Contains(got, `"name":"writer"`) {
		t.Errorf("the roles of timeline are %s", got)
	}
	if got := ask("GET", at+"scope-mappings", "", ""); !strings.Contains(got, `"clientMappings":{"timeline":{"client":"timeline","id":"c-2","mappings":[{`) {
		t.Errorf("the mappings are %s", got)
	}
}
