package terraform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// changed waits until consul has another answer for a key than the one of index:
// the server answers when it changes, not after a time.
func changed(t *testing.T, url string, index string) string {
	t.Helper()
	resp, err := http.Get(url + "?wait=5m&index=" + index)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.Header.Get("X-Consul-Index")
}

// consulBlock names the agent too: without it all tests would be taken for runs
// on one state.
func consulBlock(url string) string {
	return fmt.Sprintf("path = \"tf/net\"\naddress = %q\nscheme = \"http\"", strings.TrimPrefix(url, "http://"))
}

// TestConsul looks at every state of a lock on a real consul: also how that of a
// killed run goes by itself.
func TestConsul(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := service(t, "consul", dir)
	block := consulBlock(server.URL)
	w := newBackend(t, "consul", block, quick)
	w.look().wantFree(t, false)
	w.run("apply", "-auto-approve", "-input=false")
	free := w.look()
	free.wantFree(t, true)
	if f := free.state.Facts; f["resources"].Int() != 1 || !f["serial"].Known() {
		t.Errorf("state = %v", f)
	}

	w.write("consul", block, sixSlow)
	cmd, _ := w.apply()
	live := w.look()
	id := live.wantHeld(t, w)
	if f := live.lock.Facts; f["session"].Text() != "alive" || f["session_id"].Text() != id || f["unlock"].Text() != "by-session" || !strings.Contains(f["info"].Text(), id) {
		t.Errorf("lock = %v %v", f, live.lock.Findings)
	}
	wantUnmet(t, w.preview(id), "its holder renews it, or the lock goes by itself")
	lock := server.URL + "/v1/kv/tf/net/.lock"
	index := changed(t, lock, "0")
	w.kill(cmd)
	if got := w.look().wantHeld(t, w); got != id {
		t.Errorf("the lock of a killed run is %s, it was %s", got, id)
	}
	changed(t, lock, index) // the session has ended for want of a sign
	gone := w.look()
	gone.wantFree(t, true)
	if !says(gone.lock, "Leftover lock info") {
		t.Errorf("what is left of the lock is not said: %v", gone.lock.Findings)
	}

	// Once the run was dead there was no other client.
	raw, err := os.ReadFile(filepath.Join(dir, "consul.log"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(raw), "Session TTL expired: session="+id)
	if !found || !strings.Contains(string(raw), "acquire=") || !strings.Contains(after, "method=GET") || strings.Contains(after, "method=PUT") || strings.Contains(after, "method=DELETE") {
		t.Errorf("the log of the server is not that of a run and of reads after it:\n%s", after)
	}
}

// TestConsulReadsOnly holds what a gateway saw of handrail to reads, on states
// that are packed, split, and both.
func TestConsulReadsOnly(t *testing.T) {
	t.Parallel()
	server := service(t, "consul", t.TempDir())
	gate := newGateway(t, server.URL)
	for i, gzip := range []string{"", "gzip = true"} {
		block := fmt.Sprintf("path = \"tf/large%d\"\naddress = %q\nscheme = \"http\"\n%s", i, strings.TrimPrefix(gate.URL, "http://"), gzip)
		w := newBackend(t, "consul", block, `
resource "terraform_data" "a" {
  input = join("", [for i in range(1000) : join("", [for j in range(40) : sha256("${i}-${j}")])])
}
`)
		w.run("apply", "-auto-approve", "-input=false")
		d := w.look()
		d.wantFree(t, true)
		if f := d.state.Facts; f["resources"].Int() != 1 || len(d.state.Gaps) > 0 {
			t.Errorf("a large state = %v, %v", f, d.state.Gaps)
		}
		// A part that is gone, and one that is another, are no state.
		resp, err := http.Get(fmt.Sprintf("%s/v1/kv/tf/large%d?raw", server.URL, i))
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Chunks []string `json:"chunks"`
		}
		err = json.NewDecoder(resp.Body).Decode(&list)
		_ = resp.Body.Close()
		if err != nil || len(list.Chunks) < 2 {
			t.Fatalf("the state is in %d parts, %v; want it split", len(list.Chunks), err)
		}
		last := list.Chunks[len(list.Chunks)-1]
		for _, tc := range []struct{ method, want string }{{http.MethodPut, "digest"}, {http.MethodDelete, "is gone"}} {
			if gzip != "" && tc.method == http.MethodPut {
				tc.want = "does not unpack"
			}
			req, _ := http.NewRequest(tc.method, server.URL+"/v1/kv/"+last, strings.NewReader(`}`))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			obs, err := probe(t.Context(), w.env, "terraform/state", nil, stepstest.NewSink())
			if err != nil || !obs.Facts["exists"].Bool() || !says(obs, tc.want) {
				t.Errorf("after %s of a part: %v %v, want %q", tc.method, obs.Findings, err, tc.want)
			}
		}
	}
	gate.onlyReads(t)
}

// TestConsulTrouble asks agents that answer with a refusal or with nonsense.
func TestConsulTrouble(t *testing.T) {
	t.Parallel()
	key := `[{"Session":"11111111-1111-1111-1111-111111111111","ModifyIndex":3}]`
	for _, tc := range []struct {
		name, kind string
		answers    map[string]string // of a path: status and body
		config     string
		environ    []string
		trust      error
		err        string
		denied     bool
		check      func(steps.Observation) bool
	}{
		{name: "no permission", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "403 Permission denied"}, err: "key_prefix read", denied: true},
		{name: "state refused", kind: "state", answers: map[string]string{"/v1/kv/p": "403 Permission denied"}, err: "key_prefix read", denied: true},
		{name: "no leader", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "500 No cluster leader"}, err: "No cluster leader"},
		{name: "no JSON", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "200 <html>"}, err: "the key .lock"},
		{name: "session refused", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "200 " + key, "/v1/session/info/11111111-1111-1111-1111-111111111111": "403 no"},
			check: func(o steps.Observation) bool {
				return o.Facts["held"].Bool() && !o.Facts["session"].Known() && !o.Facts["who"].Known()
			}},
		{name: "session over", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "200 " + key, "/v1/session/info/11111111-1111-1111-1111-111111111111": "200 []"},
			check: func(o steps.Observation) bool {
				return o.Facts["held"].Bool() && o.Facts["session"].Text() == "gone" && says(o, "frees the lock by itself")
			}},
		{name: "session without end", kind: "lock", answers: map[string]string{"/v1/kv/p/.lock": "200 " + key, "/v1/session/info/11111111-1111-1111-1111-111111111111": `200 [{"ID":"x","Node":"n","TTL":""}]`},
			check: func(o steps.Observation) bool { return says(o, "until the session is ended") }},
		{name: "part of another key", kind: "state", answers: map[string]string{"/v1/kv/p": `200 {"current-hash":"x","chunks":["secrets/all"]}`}, err: "does not lie below its key"},
		{name: "key without a value", kind: "state", answers: map[string]string{"/v1/kv/p": "200 "},
			check: func(o steps.Observation) bool { return o.Facts["exists"].Bool() && len(o.Findings) > 0 }},
		{name: "bad gzip", kind: "state", answers: map[string]string{"/v1/kv/p": "200 \x1f\x8bx"},
			check: func(o steps.Observation) bool { return o.Facts["exists"].Bool() && says(o, "does not unpack") }},
		{name: "lent token", kind: "lock", environ: []string{"CONSUL_HTTP_TOKEN=opaque-token"}, trust: os.ErrPermission, err: "trust the directory first"},
		{name: "no address", kind: "lock", config: `,"address":"a/b"`, err: "not a valid agent address"},
		{name: "no locks", kind: "lock", config: `,"lock":false`, answers: map[string]string{}, check: func(o steps.Observation) bool { return says(o, "take no lock at all") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				code, body := http.StatusNotFound, ""
				if said, ok := tc.answers[r.URL.Path]; ok {
					_, _ = fmt.Sscan(said[:3], &code)
					body = said[4:]
				}
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body)
			}))
			t.Cleanup(srv.Close)
			dir := t.TempDir()
			config := `{"path":"p","address":"` + srv.URL + `"` + tc.config + `}`
			writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"consul","config":`+config+`}}`)
			env := steps.Env{Dir: dir, Environ: tc.environ, Now: time.Now, Trusted: func(string) error { return tc.trust }}
			obs, err := probe(t.Context(), env, "terraform/"+tc.kind, nil, stepstest.NewSink())
			switch {
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || errors.Is(err, steps.ErrDenied) != tc.denied):
				t.Errorf("%v, denied %v; want %q", err, isDenied(err), tc.err)
			case tc.err == "" && (err != nil || !tc.check(obs)):
				t.Errorf("%v %v, %v", obs.Facts, obs.Findings, err)
			}
		})
	}
}
