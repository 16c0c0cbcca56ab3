package kube

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
)

// fakeServer answers what a real API server cannot be made to: dead groups,
// expired tokens, many rows, foreign errors. It listens on loopback.
type fakeServer struct {
	t    *testing.T
	http *httptest.Server
	env  steps.Env

	mu         sync.Mutex
	asked      []string // limits of the lists
	names      []string
	expireOnce bool
	columns    []m
	// answer, when set, is asked before all else; true says that it answered.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	f := &fakeServer{t: t}
	f.http = httptest.NewServer(f)
	t.Cleanup(f.http.Close)
	f.env = steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=" + f.http.URL}}
	return f
}

func (f *fakeServer) table(names []string, columns []m) {
	f.names, f.columns = names, columns
	if columns == nil {
		f.columns = []m{{"name": "Name", "type": "string", "format": "name"}}
	}
}

func (f *fakeServer) limits() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *fakeServer) probe(kind string, in steps.Params) (steps.Observation, *readsSink) {
	f.t.Helper()
	sink := newReadsSink()
	obs, err := readsProbe(f.t.Context(), f.env, kind, in, sink)
	if err != nil {
		f.t.Fatal(err)
	}
	return obs, sink
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func status(code int, reason, message string, details m) m {
	return m{"kind": "Status", "apiVersion": "v1", "metadata": m{}, "status": "Failure", "code": code, "reason": reason, "message": message, "details": details}
}

// ServeHTTP implements http.Handler.
func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.answer != nil && f.answer(w, r) {
		return
	}
	switch r.URL.Path {
	case "/api":
		reply(w, 200, m{"kind": "APIVersions", "versions": []string{"v1"}})
	case "/apis":
		group := func(name string) m {
			v := m{"groupVersion": name + "/v1", "version": "v1"}
			return m{"name": name, "versions": []m{v}, "preferredVersion": v}
		}
		reply(w, 200, m{"kind": "APIGroupList", "groups": []m{group("example.com"), group("dead.example.com")}})
	case "/api/v1":
		reply(w, 200, m{"kind": "APIResourceList", "groupVersion": "v1", "resources": []m{
			{"name": "namespaces", "singularName": "namespace", "kind": "Namespace", "namespaced": false, "verbs": []string{"get", "list"}}}})
	case "/apis/example.com/v1":
		reply(w, 200, m{"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": []m{
			{"name": "things", "singularName": "thing", "shortNames": []string{"th"}, "kind": "Thing", "namespaced": true, "verbs": []string{"get", "list"}}}})
	case "/apis/example.com/v1/namespaces/default/things":
		f.list(w, r)
	case "/apis/dead.example.com/v1":
		reply(w, 503, status(503, "ServiceUnavailable", "the server is currently unable to handle the request", nil))
	default:
		http.NotFound(w, r)
	}
}

func (f *fakeServer) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	from, _ := strconv.Atoi(strings.TrimPrefix(q.Get("continue"), "fresh-"))
	if q.Get("continue") != "" && f.expireOnce {
		f.expireOnce = false
		gone := status(410, "Expired", "too old", nil)
		gone["metadata"] = m{"continue": fmt.Sprintf("fresh-%d", from)}
		reply(w, 410, gone)
		return
	}
	f.asked = append(f.asked, q.Get("limit"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	to := min(len(f.names), from+limit)
	md := m{"resourceVersion": "7"}
	if to < len(f.names) {
		md["continue"], md["remainingItemCount"] = strconv.Itoa(to), len(f.names)-to
	}
	rows, items := []m{}, []m{}
	for _, n := range f.names[from:to] {
		rows = append(rows, m{"cells": []string{n}})
		items = append(items, m{"metadata": m{"name": n, "namespace": "default", "uid": "u-" + n, "generation": 1}})
	}
	if strings.Contains(r.Header.Get("Accept"), "as=Table") {
		reply(w, 200, m{"kind": "Table", "metadata": md, "columnDefinitions": f.columns, "rows": rows})
		return
	}
	reply(w, 200, m{"kind": "PartialObjectMetadataList", "metadata": md, "items": items})
}
