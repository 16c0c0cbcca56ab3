package kube

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

// TestGuardOfAnActLetsNothingElseThrough: the guard of an act lets its one request
// through, once.
func TestGuardOfAnActLetsNothingElseThrough(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard.Add(1)
		w.Header().Set("Audit-ID", r.Header.Get("Audit-ID"))
		w.WriteHeader(http.StatusUnprocessableEntity)
	}))
	defer srv.Close()
	c, err := connect(steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=" + srv.URL}}, mute{})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces/a/configmaps/"
	allowed, err := stripRequest(path+"held", "5e1c9a", "1", "example.com/hook-cleanup", 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newSender(c, once(c, allowed, "an-id"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(*request)) request {
		r := allowed
		edit(&r)
		return r
	}
	for name, r := range map[string]request{
		"a read":            {method: http.MethodGet, path: allowed.path},
		"another object":    change(func(r *request) { r.path = path + "other" }),
		"another body":      change(func(r *request) { r.body = []byte(`[{"op":"remove","path":"/metadata/finalizers/0"}]`) }),
		"another method":    change(func(r *request) { r.method = http.MethodPut }),
		"no field manager":  change(func(r *request) { r.query = nil }),
		"its own rehearsal": allowed.rehearsal(),
		"a delete":          {method: http.MethodDelete, path: allowed.path, media: asJSON},
	} {
		var refused *transport.RefusedError
		if _, left, err := w.send(t.Context(), r); !errors.As(err, &refused) || left {
			t.Errorf("%s: %v, left %t, want it refused here", name, err, left)
		}
	}
	a, left, err := w.send(t.Context(), allowed)
	if err != nil || !left || a.code != http.StatusUnprocessableEntity || a.audit != "an-id" {
		t.Errorf("the one request = %d %s, %t, %v", a.code, a.body, left, err)
	}
	if _, left, err := w.send(t.Context(), allowed); err == nil || left {
		t.Error("it went through a second time")
	}
	if n := heard.Load(); n != 1 {
		t.Errorf("the server heard of %d requests, want the one", n)
	}
}
