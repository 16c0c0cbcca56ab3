package terraform

import (
	"bytes"
	"crypto/rand"
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
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// quick is a configuration whose apply ends at once.
const quick = `
resource "terraform_data" "a" {
  input = var.v
}
variable "v" { default = "1" }
`

// newBackend is a world whose state is on a real server of its own, without a
// cluster. block is the body of the backend block.
func newBackend(t *testing.T, backend, block, config string, environ ...string) *world {
	t.Helper()
	tofu, err := lab.Tofu(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), tofu: tofu}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	w.bot = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "CI=true"}, environ...)
	w.env = steps.Env{
		Dir: w.dir, Environ: w.bot, Home: t.TempDir(), User: me.Username, Host: host, Now: time.Now, Version: "test",
		Tool:    func(string) (string, error) { return w.tofu, nil },
		Trusted: func(string) error { return nil },
	}
	w.write(backend, block, config)
	w.run("init", "-input=false", "-no-color")
	return w
}

func (w *world) write(backend, block, config string) {
	w.t.Helper()
	text := fmt.Sprintf("terraform {\n  backend %q {\n%s\n  }\n}\n%s", backend, block, config)
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// statePath is that of a state that no other run on this machine uses: all of them
// are in one process table.
func statePath(t *testing.T) string {
	t.Helper()
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("net/%x", b)
}

// service starts a server of the lab for one test.
func service(t *testing.T, name, dir string) *lab.Server {
	t.Helper()
	s, err := lab.StartService(t.Context(), lab.Options{}, name, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func envOf(t *testing.T, s *lab.Server, name string) string {
	t.Helper()
	for _, kv := range s.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	t.Fatalf("%s says no %s", s.Name, name)
	return ""
}

// gateway stands before a server that keeps no log of its own, and keeps one.
type gateway struct {
	URL   string
	unit  string                    // path of the state behind it
	wrote atomic.Pointer[time.Time] // when the server says that the lock was written, nil for the truth
	down  atomic.Bool
	mu    sync.Mutex
	seen  []seenRequest
}

type seenRequest struct{ agent, method, path, query, target string }

func newGateway(t *testing.T, to string) *gateway {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: log.New(io.Discard, "", 0), ModifyResponse: g.redate}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.keep(r)
		if g.down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	g.URL = srv.URL
	return g
}

// objectTimes are those of an object in Cloud Storage.
var objectTimes = regexp.MustCompile(`"(timeCreated|updated)":\s*"[^"]+"`)

// redate makes a server say that it wrote the lock at another time, so that no test
// waits until one is old.
func (g *gateway) redate(r *http.Response) error {
	at := g.wrote.Load()
	if at == nil {
		return nil
	}
	if r.Header.Get("Last-Modified") != "" {
		r.Header.Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	}
	if !strings.Contains(r.Request.URL.Path, ".tflock") || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	raw = objectTimes.ReplaceAll(raw, []byte(`"$1":"`+at.UTC().Format(time.RFC3339Nano)+`"`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	r.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}

// writtenAt has the server date the lock as its info does; one that says nothing
// is as old as it is.
func (g *gateway) writtenAt(info []byte) {
	g.wrote.Store(nil)
	if l, err := lockOf(info); err == nil && !l.Created.IsZero() {
		g.wrote.Store(&l.Created)
	}
}

func (g *gateway) keep(r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, seenRequest{r.UserAgent(), r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("X-Amz-Target")})
}

// ours returns the requests that handrail sent, and fails where there are none.
func (g *gateway) ours(t *testing.T) []seenRequest {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(g.seen), func(r seenRequest) bool { return !strings.HasPrefix(r.agent, "handrail") })
	if len(out) == 0 || len(out) == len(g.seen) {
		t.Errorf("%d of %d requests are of handrail: one of the two was not seen", len(out), len(g.seen))
	}
	return out
}

// onlyReads holds what a server saw of handrail to reads.
func (g *gateway) onlyReads(t *testing.T) {
	t.Helper()
	for _, r := range g.ours(t) {
		if r.method != http.MethodGet && r.method != http.MethodHead {
			t.Errorf("handrail sent %+v", r)
		}
	}
}

// dossier is what all that can be asked says at one moment.
type dossier struct{ lock, state steps.Observation }

func (w *world) look() dossier {
	w.t.Helper()
	return dossier{w.probe("terraform/lock", nil), w.probe("terraform/state", nil)}
}

// wantFree holds a dossier to a state without a lock.
func (d dossier) wantFree(t *testing.T, exists bool) {
	t.Helper()
	if f := d.lock.Facts["held"]; !f.Known() || f.Bool() {
		t.Errorf("held = %s (%s), want free: %s", f.Text(), f.Why(), d.lock.Summary)
	}
	if f := d.state.Facts["exists"]; !f.Known() || f.Bool() != exists {
		t.Errorf("exists = %s (%s), want %v: %s", f.Text(), f.Why(), exists, d.state.Summary)
	}
}

// wantHeld holds a dossier to a lock of the test's own user for an apply.
func (d dossier) wantHeld(t *testing.T, w *world) (id string) {
	t.Helper()
	f := d.lock.Facts
	if !f["held"].Bool() || f["operation"].Text() != "OperationTypeApply" || !f["own"].Bool() || f["who"].Text() != w.env.User+"@"+w.env.Host ||
		!f["created"].Known() || f["host"].Text() != w.env.Host || (!f["age"].Known() && !strings.Contains(f["age"].Why(), "future")) {
		t.Errorf("lock = %v (%s) %v, want one of our own apply", f, d.lock.Summary, d.lock.Findings)
	}
	return f["id"].Text()
}

func says(obs steps.Observation, part string) bool {
	return slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, part) })
}

// until runs tofu again and again while the lock of a run that was killed is
// still on its way out.
func (w *world) until(args ...string) {
	w.t.Helper()
	w.run(append(slices.Clone(args), "-lock-timeout=60s")...)
}

func isDenied(err error) bool { return errors.Is(err, steps.ErrDenied) }

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func writeFile(t *testing.T, dir, name, body string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lockOf reads what a run wrote of itself into its lock.
func lockOf(raw []byte) (l struct{ Created time.Time }, err error) {
	return l, json.Unmarshal(raw, &l)
}
