package rabbitmq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// The accounts of the broker of the tests, and their passwords.
const (
	viewer       = "viewer" // sees every virtual host, and may do nothing
	viewerWord   = "viewer-Pa55-word"
	narrow       = "narrow" // sees those that it may use
	narrowWord   = "narrow-Pa55-word"
	outsider     = "outsider" // no account of the management
	outsiderWord = "outsider-Pa55-word"
)

// world is a real broker with something in it.
type world struct {
	*lab.Server
	env map[string]string
}

var shared struct {
	once sync.Once
	w    world
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.w.Server != nil {
		if err := shared.w.Close(); err != nil && code == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// brokerOf starts one for all tests, when the first needs it. They only look at
// what is made here, or make virtual hosts of their own.
func brokerOf(t *testing.T) world {
	t.Helper()
	shared.once.Do(func() { shared.err = start() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.w
}

func start() (err error) {
	if shared.dir, err = os.MkdirTemp("", "handrail-broker"); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := lab.StartService(ctx, lab.Options{}, "rabbitmq", shared.dir)
	if err != nil {
		return err
	}
	w := world{s, map[string]string{}}
	shared.w = w
	for _, kv := range s.Env {
		k, v, _ := strings.Cut(kv, "=")
		w.env[k] = v
	}
	nothing := map[string]string{"configure": "^$", "write": "^$", "read": "^$"}
	all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
	var errs []error
	put := func(method, path string, body any) { errs = append(errs, w.admin(ctx, method, path, body)) }
	put("PUT", "/api/vhosts/%2Fplatform", nil)
	put("PUT", "/api/vhosts/closed", nil)
	put("PUT", "/api/vhosts/Staging%2F", nil)
	put("PUT", "/api/vhosts/%2Fstaging", nil)
	put("PUT", "/api/users/"+viewer, map[string]string{"password": viewerWord, "tags": "monitoring"})
	put("PUT", "/api/users/"+narrow, map[string]string{"password": narrowWord, "tags": "management"})
	put("PUT", "/api/users/"+outsider, map[string]string{"password": outsiderWord, "tags": ""})
	for _, user := range []string{viewer, narrow, outsider} {
		put("PUT", "/api/permissions/%2Fplatform/"+user, nothing)
	}
	put("PUT", "/api/permissions/%2Fplatform/"+w.env["BROKER_USER"], all)
	put("PUT", "/api/permissions/Staging%2F/"+w.env["BROKER_USER"], all)
	put("PUT", "/api/permissions/Staging%2F/"+viewer, nothing)
	put("PUT", "/api/queues/Staging%2F/parcels.new", map[string]any{"durable": true})
	put("PUT", "/api/exchanges/%2Fplatform/parcels", map[string]any{"type": "topic", "durable": true})
	put("PUT", "/api/exchanges/%2Fplatform/audit", map[string]any{"type": "headers", "durable": true})
	for _, q := range []string{"parcels.new", "parcels.lost", "parcels.all"} {
		put("PUT", "/api/queues/%2Fplatform/"+q, map[string]any{"durable": true})
	}
	put("POST", "/api/bindings/%2Fplatform/e/parcels/q/parcels.new", map[string]any{"routing_key": "parcel.new"})
	put("POST", "/api/bindings/%2Fplatform/e/parcels/q/parcels.all", map[string]any{"routing_key": "parcel.#"})
	put("POST", "/api/bindings/%2Fplatform/e/parcels/e/audit", map[string]any{"routing_key": "parcel.lost"})
	put("POST", "/api/bindings/%2Fplatform/e/audit/q/parcels.all", map[string]any{"routing_key": "", "arguments": map[string]any{"x-match": "all", "kind": "lost", "grade": 3}})
	return errors.Join(errs...)
}

// admin writes into the broker, as its administrator.
func (w world) admin(ctx context.Context, method, path string, body any) error {
	raw := []byte("{}")
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, w.URL+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.SetBasicAuth(w.env["BROKER_USER"], w.env["BROKER_PASSWORD"])
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, said)
	}
	return nil
}

// operator has a brokers.yaml that names the address with one account.
func operator(t *testing.T, address, user, password string) steps.Env {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, ".config", "handrail", "brokers.yaml"), "apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n- url: "+address+"\n  user: "+user+"\n  password_file: word\n")
	write(t, filepath.Join(home, ".config", "handrail", "word"), password+"\n")
	return steps.Env{Dir: t.TempDir(), Home: home, Now: time.Now, Version: "test"}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// sink keeps what a probe gave.
type sink struct {
	mu        sync.Mutex
	artifacts map[string]string
	secrets   []string
}

type artifact struct {
	bytes.Buffer
	role string
	to   *sink
}

func (a *artifact) Close() error {
	a.to.mu.Lock()
	defer a.to.mu.Unlock()
	if a.to.artifacts == nil {
		a.to.artifacts = map[string]string{}
	}
	a.to.artifacts[a.role] = a.String()
	return nil
}

func (s *sink) Artifact(role, _ string) io.WriteCloser { return &artifact{role: role, to: s} }
func (s *sink) Line(string)                            {}
func (s *sink) Secret(v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, v)
}

// probe runs one of the kinds.
func probe(t *testing.T, env steps.Env, kind string, in map[string]string) (steps.Observation, *sink, error) {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		params := steps.Params{}
		for name, text := range in {
			params[name] = steps.StringOf(text)
		}
		out := &sink{}
		obs, err := k.Reads(env).Probe(t.Context(), params, out)
		if err == nil {
			err = stepstest.Declared(k.Facts, obs.Facts)
		}
		return obs, out, err
	}
	t.Fatalf("no kind %s", kind)
	return steps.Observation{}, nil, nil
}

// facts are those of an observation as texts, for a comparison.
func facts(obs steps.Observation) map[string]string {
	out := map[string]string{}
	for name, v := range obs.Facts {
		out[name] = v.Text()
	}
	return out
}

// front is a server before the broker that may spoil its answers.
func front(t *testing.T, w world, spoil func(rw http.ResponseWriter, r *http.Request, broker http.Handler)) string {
	t.Helper()
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { spoil(rw, r, proxy) }))
	t.Cleanup(s.Close)
	return s.URL
}
