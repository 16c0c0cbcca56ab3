package kube

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// readsSink keeps what a probe wrote.
type readsSink struct {
	mu      sync.Mutex
	kept    map[string]*bytes.Buffer
	media   map[string]string
	lines   []string
	secrets []string
}

func newReadsSink() *readsSink {
	return &readsSink{kept: map[string]*bytes.Buffer{}, media: map[string]string{}}
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }

func (s *readsSink) Artifact(role, media string) io.WriteCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &bytes.Buffer{}
	s.kept[role], s.media[role] = b, media
	return closer{b}
}

func (s *readsSink) Line(text string) { s.mu.Lock(); s.lines = append(s.lines, text); s.mu.Unlock() }
func (s *readsSink) Secret(value string) {
	s.mu.Lock()
	s.secrets = append(s.secrets, value)
	s.mu.Unlock()
}

func (s *readsSink) text(role string) string {
	if b := s.kept[role]; b != nil {
		return b.String()
	}
	return ""
}

// readsWorld is a namespace of the real API server.
type readsWorld struct {
	tb    testing.TB
	lab   *lab.Lab
	ns    lab.Namespace
	env   steps.Env
	began time.Time
}

func newReadsWorld(tb testing.TB) *readsWorld {
	tb.Helper()
	opts, err := lab.ForTests("steps-kube-" + strings.ToLower(rand.Text()))
	if err != nil {
		tb.Fatal(err)
	}
	l, err := lab.Up(context.Background(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	w := &readsWorld{tb: tb, lab: l}
	w.ns = w.namespace()
	w.env = steps.Env{Home: tb.TempDir(), Now: time.Now, Kubeconfig: w.ns.OperatorKubeconfig, Version: "test"}
	w.began = time.Now()
	return w
}

func (w *readsWorld) namespace() lab.Namespace {
	w.tb.Helper()
	ns, err := w.lab.Namespace(context.Background(), "reads")
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = w.lab.VacateNamespace(context.Background(), ns.Name) })
	return ns
}

// do sends one request with a kubeconfig, and reads the answer.
func (w *readsWorld) do(kubeconfig, method, path string, in any) map[string]any {
	w.tb.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		w.tb.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		w.tb.Fatal(err)
	}
	out, err := send(client, method, cfg.Host+path, in)
	if err != nil {
		w.tb.Fatal(err)
	}
	return out
}

func send(client *http.Client, method, url string, in any) (map[string]any, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %v", method, url, resp.Status, out["message"])
	}
	return out, nil
}

func (w *readsWorld) robot(method, path string, in any) map[string]any {
	w.tb.Helper()
	return w.do(w.ns.RobotKubeconfig, method, path, in)
}

func (w *readsWorld) admin(method, path string, in any) map[string]any {
	w.tb.Helper()
	return w.do(w.lab.Kubeconfig(), method, path, in)
}

// probe runs a kind and holds it to the contract of every probe.
func (w *readsWorld) probe(kind string, in steps.Params) (steps.Observation, *readsSink) {
	w.tb.Helper()
	sink := newReadsSink()
	obs, err := readsProbe(w.tb.Context(), w.env, kind, in, sink)
	if err != nil {
		w.tb.Fatalf("%s %v: %v", kind, in, err)
	}
	return obs, sink
}

// readsProbe runs a kind: each declared fact is there with its type, and no other.
func readsProbe(ctx context.Context, env steps.Env, kind string, in steps.Params, out steps.Sink) (steps.Observation, error) {
	for _, k := range Kinds() {
		if k.Name != kind {
			continue
		}
		return stepstest.Observe(ctx, k.Reads(env), k.Facts, in, out)
	}
	return steps.Observation{}, fmt.Errorf("no kind %q", kind)
}

// kindOf is the row of a kind.
func kindOf(name string) steps.Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	panic("no kind " + name)
}

func probeOf(name string, env steps.Env) steps.Prober { return kindOf(name).Reads(env) }

// clusterGate is what every gate of a cluster can.
type clusterGate interface {
	steps.Gater
	steps.Finder
	steps.Rereader
}

func gateOf(name string, env steps.Env) clusterGate { return kindOf(name).Changes(env).(clusterGate) }

// what makes parameters of pairs of name and text.
func what(pairs ...string) steps.Params {
	in := steps.Params{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == "all_namespaces" {
			in[pairs[i]] = steps.BoolOf(pairs[i+1] == "true")
			continue
		}
		in[pairs[i]] = steps.StringOf(pairs[i+1])
	}
	return in
}

// unwritten proves by the audit log that an account wrote nothing.
func (w *readsWorld) unwritten(user string) {
	w.tb.Helper()
	events, err := w.lab.AuditEvents(context.Background(), lab.AuditFilter{User: user, Since: w.began})
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, e := range events {
		w.tb.Errorf("%s did %s %s/%s %s", user, e.Verb, e.Resource, e.Name, e.URI)
	}
}
