package act

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
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
	c, err := cluster.Connect(steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=" + srv.URL}}, steps.SecretsOnly(nil))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces/a/configmaps/"
	allowed, err := StripRequest(path+"held", "5e1c9a", "1", "example.com/hook-cleanup", 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewSender(c, once(c, allowed, "an-id"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(edit func(*Request)) Request {
		r := allowed
		edit(&r)
		return r
	}
	for name, r := range map[string]Request{
		"a read":            {Method: http.MethodGet, Path: allowed.Path},
		"another object":    change(func(r *Request) { r.Path = path + "other" }),
		"another body":      change(func(r *Request) { r.Body = []byte(`[{"op":"remove","path":"/metadata/finalizers/0"}]`) }),
		"another method":    change(func(r *Request) { r.Method = http.MethodPut }),
		"no field manager":  change(func(r *Request) { r.Query = nil }),
		"its own rehearsal": allowed.Rehearsal(),
		"a delete":          {Method: http.MethodDelete, Path: allowed.Path, Media: cluster.AsJSON},
	} {
		var refused *transport.RefusedError
		if _, left, err := w.Send(t.Context(), r); !errors.As(err, &refused) || left {
			t.Errorf("%s: %v, left %t, want it refused here", name, err, left)
		}
	}
	a, left, err := w.Send(t.Context(), allowed)
	if err != nil || !left || a.Code != http.StatusUnprocessableEntity || a.audit != "an-id" {
		t.Errorf("the one request = %d %s, %t, %v", a.Code, a.Body, left, err)
	}
	if _, left, err := w.Send(t.Context(), allowed); err == nil || left {
		t.Error("it went through a second time")
	}
	if n := heard.Load(); n != 1 {
		t.Errorf("the server heard of %d requests, want the one", n)
	}
}
