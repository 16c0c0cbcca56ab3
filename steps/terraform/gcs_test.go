package terraform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
)

// gcsWorld is a bucket with versions on an emulator of Cloud Storage.
func gcsWorld(t *testing.T, config string) (*world, *gateway) {
	t.Helper()
	gate := newGateway(t, service(t, "gcs", t.TempDir()).URL)
	resp, err := http.Post(gate.URL+"/storage/v1/b?project=p", "application/json", strings.NewReader(`{"name":"team","versioning":{"enabled":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("making a bucket: %s", resp.Status)
	}
	gate.unit = statePath(t)
	return newBackend(t, "gcs", gate.gcsBlock(), config, "STORAGE_EMULATOR_HOST="+strings.TrimPrefix(gate.URL, "http://")), gate
}

func (g *gateway) gcsBlock() string { return "bucket = \"team\"\nprefix = \"" + g.unit + "\"" }

// backdateGCS writes the lock anew, as if it were older; it then has another
// generation.
func backdateGCS(t *testing.T, gate *gateway, by time.Duration) {
	t.Helper()
	at := gate.URL + "/storage/v1/b/team/o/" + url.PathEscape(gate.unit+"/default.tflock")
	resp, err := http.Get(at + "?alt=media")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	up := gate.URL + "/upload/storage/v1/b/team/o?uploadType=media&name=" + url.QueryEscape(gate.unit+"/default.tflock")
	raw = older(t, raw, by)
	resp, err = http.Post(up, "application/json", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("writing the lock: %s", resp.Status)
	}
}

// TestGCS looks at every state of a lock on the emulator, and releases that of a
// killed run by its generation.
func TestGCS(t *testing.T) {
	t.Parallel()
	w, gate := gcsWorld(t, quick)
	w.look().wantFree(t, true) // init has made it
	other := w.env
	other.Environ = append(other.Environ[:len(other.Environ):len(other.Environ)], "TF_WORKSPACE=never")
	absent := &world{t: t, env: other}
	absent.look().wantFree(t, false)
	absent.look().wantFree(t, false)
	w.run("apply", "-auto-approve", "-input=false")
	free := w.look()
	free.wantFree(t, true)
	if f := free.state.Facts; f["resources"].Int() != 1 || !f["written"].Known() || !f["lineage"].Known() {
		t.Errorf("state = %v", f)
	}
	w.write("gcs", gate.gcsBlock(), sixSlow)
	cmd, _ := w.apply()
	live := w.look()
	id := live.wantHeld(t, w)
	if strings.Trim(id, "0123456789") != "" || id == "" || live.lock.Facts["unlock"].Text() != "by-generation" || !says(live.lock, "takes the generation "+id) {
		t.Errorf("lock = %v %v", live.lock.Facts, live.lock.Findings)
	}
	wantUnmet(t, w.preview(id), "The holder is alive")
	w.kill(cmd)
	if got := w.look().wantHeld(t, w); got != id {
		t.Errorf("the lock of a killed run is %s, it was %s", got, id)
	}
	backdateGCS(t, gate, time.Hour)
	wantUnmet(t, w.preview(id), "someone else took it")
	wantUnmet(t, w.preview(id), "the clock of the holder is wrong, or the lock was written again")
	hourOld := time.Now().Add(-time.Hour)
	gate.wrote.Store(&hourOld)
	id = w.look().wantHeld(t, w)
	o, err := change.UnlockGate{Env: w.env}.Act(t.Context(), w.confirmed(id), stepstest.NewSink())
	if err != nil || o.Result != steps.Done {
		t.Errorf("Act() = %+v, %v, want done", o, err)
	}
	w.look().wantFree(t, true)
	gate.onlyReads(t)
}

// TestGCSTrouble asks for what Cloud Storage refuses, and with credentials that
// cannot be used.
func TestGCSTrouble(t *testing.T) {
	t.Parallel()
	account, _ := json.Marshal(map[string]string{"type": "external_account", "audience": "a"})
	for _, tc := range []struct {
		name, kind, config string
		code               int
		body               string
		environ            []string
		trust              error
		err                string
		denied             bool
	}{
		{name: "no bucket", kind: "state", code: 404, body: `{"error":{"message":"The specified bucket does not exist."}}`, environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, err: `bucket "b" does not exist`},
		{name: "expired", kind: "lock", code: 401, body: `{"error":{"message":"Invalid Credentials"}}`, environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, err: "may have expired", denied: true},
		{name: "forbidden", kind: "lock", code: 403, body: `{"error":{"message":"no access"}}`, environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, err: "storage.objects.get", denied: true},
		{name: "no generation", kind: "lock", code: 200, body: `{}`, environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, err: "its generation"},
		{name: "no credentials", kind: "lock", err: "no credentials", denied: true},
		{name: "credentials of another type", kind: "lock", environ: []string{"GOOGLE_CREDENTIALS=" + string(account)}, err: `type "external_account"`, denied: true},
		{name: "credentials that are none", kind: "lock", environ: []string{"GOOGLE_CREDENTIALS=x"}, err: "neither JSON"},
		{name: "impersonation", kind: "lock", config: `,"impersonate_service_account":"robot"`, err: "does not become", denied: true},
		{name: "lent token", kind: "lock", environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, trust: os.ErrPermission, err: "trust the directory first"},
		{name: "bad key", kind: "lock", config: `,"encryption_key":"x"`, err: "32 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer opaque-token" {
					t.Errorf("the token was not sent: %v", r.Header)
				}
				w.WriteHeader(tc.code)
				_, _ = io.WriteString(w, tc.body)
			}))
			t.Cleanup(srv.Close)
			dir := t.TempDir()
			writeFile(t, dir, ".terraform/terraform.tfstate", fmt.Sprintf(`{"version":3,"backend":{"type":"gcs","config":{"bucket":"b","storage_custom_endpoint":%q%s}}}`, srv.URL+"/storage/v1/", tc.config))
			env := steps.Env{Dir: dir, Home: t.TempDir(), Environ: tc.environ, Now: time.Now, Trusted: func(string) error { return tc.trust }}
			if _, err := probe(t.Context(), env, "terraform/"+tc.kind, nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), tc.err) || isDenied(err) != tc.denied {
				t.Errorf("%v, denied %v; want %q, denied %v", err, isDenied(err), tc.err, tc.denied)
			}
		})
	}
}

// TestGCSEndpoint: an endpoint of one's own is asked where the tools ask it, and
// one that does not answer there says nothing of a lock.
func TestGCSEndpoint(t *testing.T) {
	t.Parallel()
	const held = `{"ID":"1","Operation":"OperationTypeApply","Who":"ci@runner","Created":"2026-01-01T00:00:00Z"}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/storage/v1/b/team/o" && r.URL.Query().Get("prefix") != "":
			_, _ = io.WriteString(w, `{"kind":"storage#objects"}`)
		case r.URL.EscapedPath() != "/storage/v1/b/team/o/net%2Fdefault.tflock":
			http.NotFound(w, r)
		case r.URL.Query().Get("alt") == "media":
			_, _ = io.WriteString(w, held)
		default:
			_, _ = io.WriteString(w, `{"name":"net/default.tflock","generation":"17","timeCreated":"2026-01-01T00:00:01Z"}`)
		}
	}))
	t.Cleanup(srv.Close)
	for _, tc := range []struct{ name, endpoint, prefix, want string }{
		{"as documented", "/storage/v1/b", "net", "held"},
		{"the API itself", "/storage/v1/", "net", "held"},
		{"no lock there", "/storage/v1/b", "other", "free"},
		{"a slash too many", "/storage/v1/b/", "net", `no bucket "team" where the tools would ask`},
		{"a part missing", "/storage/v1", "net", `no bucket "team" where the tools would ask`},
		{"a page of a proxy", "/", "net", `no bucket "team" where the tools would ask`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, dir, ".terraform/terraform.tfstate", fmt.Sprintf(`{"version":3,"backend":{"type":"gcs","config":{"bucket":"team","prefix":%q,"storage_custom_endpoint":%q}}}`, tc.prefix, srv.URL+tc.endpoint))
			env := steps.Env{Dir: dir, Home: t.TempDir(), Environ: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token"}, Now: time.Now, Trusted: func(string) error { return nil }}
			obs, err := probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink())
			got := "free"
			switch {
			case err != nil:
				got = err.Error()
			case obs.Facts["held"].Bool():
				got = "held"
			}
			if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
				t.Errorf("lock = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestGCSEndpointOfTheTool: with an endpoint as the documentation has it, the lock
// of a real run is seen, and its release is one.
func TestGCSEndpointOfTheTool(t *testing.T) {
	t.Parallel()
	first, gate := gcsWorld(t, quick)
	block := gate.gcsBlock() + "\nstorage_custom_endpoint = \"" + gate.URL + "/storage/v1/b\""
	w := newBackend(t, "gcs", block, quick, "GOOGLE_OAUTH_ACCESS_TOKEN=opaque-token")
	w.look().wantFree(t, true)
	gate.writtenAt([]byte(`{"Created":"` + time.Now().Add(-time.Hour).Format(time.RFC3339Nano) + `"}`))
	info := `{"ID":"` + rigID + `","Operation":"OperationTypeApply","Who":"` + w.env.User + "@" + w.env.Host + `","Created":"` + time.Now().Add(-time.Hour).Format(time.RFC3339Nano) + `"}`
	send(t, http.MethodPost, gate.URL+"/upload/storage/v1/b/team/o?uploadType=media&name="+url.QueryEscape(gate.unit+"/default.tflock"), []byte(info))
	id := w.look().wantHeld(t, w)
	if o, err := (change.UnlockGate{Env: w.env}).Act(t.Context(), w.confirmed(id), stepstest.NewSink()); err != nil || o.Result != steps.Done {
		t.Errorf("Act() = %+v, %v, want done", o, err)
	}
	first.look().wantFree(t, true) // by the other address
}
