package kube

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

const thing = "/apis/example.com/v1/namespaces/default/things/x"

// TestRefusals: each way in which a server does not give the object is told
// apart, with what happened to which object and what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	about := m{"name": "x", "group": "example.com", "kind": "things"}
	for _, tc := range []struct {
		name   string
		code   int
		body   m // nil for the page of another kind of server
		absent bool
		denied bool
		want   []string
	}{
		{name: "absent", code: 404, body: status(404, "NotFound", `things "x" not found`, about), absent: true},
		{name: "404 of a web server", code: 404, want: []string{"does not know this address", "404"}},
		{name: "404 about something else", code: 404, body: status(404, "NotFound", "no", m{"name": "default", "kind": "namespaces"}), want: []string{"404"}},
		{name: "404 about another group", code: 404, body: status(404, "NotFound", "no", m{"name": "x", "group": "other.example", "kind": "things"}), want: []string{"404"}},
		{name: "404 without details", code: 404, body: status(404, "NotFound", "the server could not find the requested resource", nil), want: []string{"404"}},
		{name: "forbidden", code: 403, body: status(403, "Forbidden", "joe may not", about), denied: true, want: []string{thing, "joe may not", "ask for that right"}},
		{name: "forbidden by a proxy", code: 403, denied: true, want: []string{thing}},
		{name: "expired credentials", code: 401, body: status(401, "Unauthorized", "Unauthorized", nil), want: []string{"401", "sign in"}},
		{name: "broken server", code: 500, body: status(500, "InternalError", "etcd has no leader", nil), want: []string{"500", "no leader"}},
		{name: "not an object", code: 200, body: m{"kind": "Hello"}, want: []string{"something else than the object"}},
		{name: "another object", code: 200, body: m{"metadata": m{"name": "y", "uid": "u"}}, want: []string{"something else than the object"}},
		{name: "malformed finalizers", code: 200, body: m{"metadata": m{"name": "x", "uid": "u", "finalizers": "none"}}, want: []string{"cannot be read"}},
		{name: "not JSON", code: 200, want: []string{"cannot be read"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			f := newFakeServer(t)
			f.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != thing {
					return false
				}
				if tc.body == nil {
					w.Header().Set("Content-Type", "text/html")
					w.WriteHeader(tc.code)
					_, _ = w.Write([]byte("<html>nginx</html>"))
					return true
				}
				reply(w, tc.code, tc.body)
				return true
			}
			obs, err := readsProbe(t.Context(), f.env, "kube/get", what("resource", "th", "name", "x"), newReadsSink())
			if tc.absent {
				if err != nil || !obs.Facts["exists"].Known() || obs.Facts["exists"].Bool() {
					t.Fatalf("Probe() = %v, %v, want an object that is not there", obs.Facts, err)
				}
				return
			}
			if err == nil || cluster.IsForbidden(err) != tc.denied || errors.Is(err, cluster.ErrAbsent) {
				t.Fatalf("Probe() = %v, %v", obs.Facts, err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error = %v, want %q in it", err, part)
				}
			}
		})
	}
}

// TestRealRefusals asks the real API server what it refuses.
func TestRealRefusals(t *testing.T) {
	t.Parallel()
	w := newReadsWorld(t)
	other := w.namespace()
	for _, in := range []steps.Params{what("resource", "cm", "name", "x", "namespace", other.Name), what("resource", "nodes", "name", "x")} {
		if _, err := readsProbe(t.Context(), w.env, "kube/get", in, newReadsSink()); !cluster.IsForbidden(err) || !strings.Contains(err.Error(), w.ns.Operator) {
			t.Errorf("get %v = %v, want it denied to %s", in, err, w.ns.Operator)
		}
	}
	env := w.env
	env.Kubectl = []string{"--token=nobody"}
	if _, err := readsProbe(t.Context(), env, "kube/get", what("resource", "cm", "name", "x"), newReadsSink()); err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "nobody") {
		t.Errorf("get with a wrong token = %v", err)
	}
	obs, _ := w.probe("kube/get", what("resource", "cm", "name", "x"))
	if obs.Facts["exists"].Bool() || !obs.Facts["exists"].Known() {
		t.Errorf("get of an absent object = %v", obs.Facts)
	}
	w.unwritten(w.ns.Operator)
}

// TestCancelled: a server that accepts and never answers does not hold a probe,
// neither while it is asked what it serves nor later.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/api", "/apis/example.com/v1", thing, strings.TrimSuffix(thing, "/x")} {
		f := newFakeServer(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		f.answer = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			cancel()
			<-ended
			return true
		}
		kind := "kube/get"
		if !strings.HasSuffix(path, "/x") {
			kind = "kube/list"
		}
		_, err := readsProbe(ctx, f.env, kind, what("resource", "things", "name", "x"), newReadsSink())
		close(ended)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled at %s = %v, want context.Canceled", kind, path, err)
		}
	}
}

// TestEndlessPages: a server that sends one page for ever is left.
func TestEndlessPages(t *testing.T) {
	t.Parallel()
	f := newFakeServer(t)
	f.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/things") {
			return false
		}
		reply(w, 200, m{"kind": "Table", "metadata": m{"continue": "again"}, "columnDefinitions": []m{{"name": "Name"}}, "rows": []m{{"cells": []string{"a"}}}})
		return true
	}
	if _, err := readsProbe(t.Context(), f.env, "kube/list", what("resource", "things"), newReadsSink()); err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Errorf("error = %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	env := steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=http://" + address}}
	for _, kind := range []string{"kube/get", "kube/list"} {
		_, err = readsProbe(t.Context(), env, kind, what("resource", "cm", "name", "x"), newReadsSink())
		if err == nil || !strings.Contains(err.Error(), "cannot be reached") || !strings.Contains(err.Error(), address) || errors.Is(err, cluster.ErrNoKind) {
			t.Errorf("%s of nobody = %v", kind, err)
		}
	}
}
