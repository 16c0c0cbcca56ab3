package terraform

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
)

// stateServer follows the http protocol of states, with locks.
type stateServer struct {
	gateway
	mu    sync.Mutex
	state []byte
	held  []byte // lock info
	taken []string
}

func newStateServer(t *testing.T) *stateServer {
	t.Helper()
	s := &stateServer{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.keep(r)
	body, _ := io.ReadAll(r.Body)
	if user, password, ok := r.BasicAuth(); !ok || user != "bot" || password != "http-password" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(s.state)
	case http.MethodPost:
		s.state = body
	case "LOCK":
		if s.held != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.held)
			return
		}
		s.held = body
		s.taken = append(s.taken, r.UserAgent())
	case "UNLOCK":
		var want, have backend.LockInfo
		_, _ = json.Unmarshal(body, &want), json.Unmarshal(s.held, &have)
		if want.ID != have.ID {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.held = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// TestHTTP reads the state of a server with locks, and never its lock.
func TestHTTP(t *testing.T) {
	t.Parallel()
	s := newStateServer(t)
	block := `address = "` + s.URL + `/tf/state?x=1"
lock_address = "` + s.URL + `/tf/state/lock"
unlock_address = "` + s.URL + `/tf/state/lock"`
	w := newBackend(t, "http", block, quick, "TF_HTTP_USERNAME=bot", "TF_HTTP_PASSWORD=http-password")
	unknown := func(d dossier) {
		t.Helper()
		if f := d.lock.Facts; f["held"].Known() || f["id"].Known() || f["systems"].Known() || f["unlock"].Text() != "any-id" || !strings.Contains(f["held"].Why(), "asking for it takes it") || len(d.lock.Gaps) == 0 {
			t.Errorf("lock = %v %v, want it unknown with the reason", f, d.lock.Gaps)
		}
	}
	d := w.look()
	unknown(d)
	if f := d.state.Facts["exists"]; !f.Known() || f.Bool() {
		t.Errorf("exists = %v", f)
	}
	w.run("apply", "-auto-approve", "-input=false")
	d = w.look()
	unknown(d)
	if f := d.state.Facts; !f["exists"].Bool() || f["serial"].Int() != 0 && f["serial"].Int() != 1 || f["resources"].Int() != 1 {
		t.Errorf("state = %v", f)
	}
	w.write("http", block, sixSlow)
	cmd, _ := w.apply()
	unknown(w.look())
	w.kill(cmd)
	unknown(w.look())
	wantUnmet(t, w.preview("00000000-0000-0000-0000-000000000000"), "terraform sends no id")
	s.mu.Lock()
	held, taken := s.held, s.taken
	s.mu.Unlock()
	if held == nil || len(taken) != 2 || bytes.Contains([]byte(strings.Join(taken, " ")), []byte("handrail")) {
		t.Errorf("the lock is %s, taken by %q; want that of the killed run, and no other", held, taken)
	}
	s.onlyReads(t)
	if _, err := (&http.Client{}).Get(s.URL); err != nil { // the server lives: what follows fails for its own reasons
		t.Fatal(err)
	}

	for _, tc := range []struct {
		name, settings string
		environ        []string
		trust          error
		err            string
		denied         bool
		check          func(steps.Observation) bool
	}{
		{name: "wrong password", environ: []string{"TF_HTTP_PASSWORD=expired-password"}, err: "a token may have expired", denied: true},
		{name: "no server", settings: `"address":"http://127.0.0.1:1/"`, err: "cannot be reached"},
		{name: "no address", settings: `"address":"nowhere"`, err: "name no address"},
		{name: "lent password", trust: os.ErrPermission, err: "trust the directory first if that is meant: permission denied"},
		{name: "workspace", environ: []string{"TF_WORKSPACE=prod"}, err: "no workspaces"},
		{name: "no locks", check: func(o steps.Observation) bool {
			return !o.Facts["held"].Known() && strings.Contains(o.Facts["held"].Why(), "no lock_address")
		}},
		{name: "gitlab", settings: `"address":"` + s.URL + `/api/v4/projects/7/terraform/state/prod","lock_address":"x"`, check: func(o steps.Observation) bool {
			return !o.Facts["held"].Known() && strings.Contains(o.Facts["held"].Why(), "GraphQL")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.settings == "" {
				tc.settings = `"address":"` + s.URL + `/tf/state"`
			}
			writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"http","config":{`+tc.settings+`}}}`)
			env := steps.Env{Dir: dir, Environ: append(w.env.Environ[:len(w.env.Environ):len(w.env.Environ)], tc.environ...), Now: time.Now, Trusted: func(string) error { return tc.trust }}
			kind := "terraform/state"
			if tc.check != nil {
				kind = "terraform/lock"
			}
			obs, err := probe(t.Context(), env, kind, nil, stepstest.NewSink())
			switch {
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err) || isDenied(err) != tc.denied):
				t.Errorf("%s = %v, denied %v; want %q", kind, err, isDenied(err), tc.err)
			case tc.err == "" && (err != nil || !tc.check(obs)):
				t.Errorf("%s = %v %v, %v", kind, obs.Facts, obs.Gaps, err)
			}
		})
	}
}

// TestHTTPOddServers asks servers that redirect, stall the state or change it
// between two reads.
func TestHTTPOddServers(t *testing.T) {
	t.Parallel()
	n := 0
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "/state", http.StatusFound)
		case "/empty":
		case "/moving":
			mu.Lock()
			n++
			_, _ = io.WriteString(w, `{"version":4,"serial":`+strings.Repeat("1", n)+`,"lineage":"l","resources":[]}`)
			mu.Unlock()
		case "/broken":
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(srv.Close)
	ask := func(path string) (steps.Observation, error) {
		dir := t.TempDir()
		writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"http","config":{"address":"`+srv.URL+path+`"}}}`)
		return probe(t.Context(), steps.Env{Dir: dir, Now: time.Now}, "terraform/state", nil, stepstest.NewSink())
	}
	if _, err := ask("/away"); err == nil || !strings.Contains(err.Error(), "does not go") {
		t.Errorf("a redirect = %v", err)
	}
	if _, err := ask("/broken"); err == nil || !strings.Contains(err.Error(), "answered 502") {
		t.Errorf("a bad gateway = %v", err)
	}
	if obs, err := ask("/empty"); err != nil || obs.Facts["exists"].Bool() {
		t.Errorf("nothing = %v, %v; want no state, as the backend sees it", obs.Facts, err)
	}
	if obs, err := ask("/moving"); err != nil || len(obs.Gaps) == 0 || !strings.Contains(obs.Gaps[0], "a writer is alive") {
		t.Errorf("a state that moves = %v, %v; want a gap that says so", obs.Gaps, err)
	}
}
