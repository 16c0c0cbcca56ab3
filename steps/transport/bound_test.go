package transport

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// flood writes n bytes of JSON blanks, or of what unit is.
func flood(w io.Writer, unit string, n int64) {
	chunk := []byte(strings.Repeat(unit, 64<<10/len(unit)))
	for ; n > 0; n -= int64(len(chunk)) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// packed is n bytes of unit, compressed.
func packed(t *testing.T, unit string, n int64, times int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	flood(z, unit, n)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for range times - 1 {
		var again bytes.Buffer
		z := gzip.NewWriter(&again)
		if _, err := z.Write(out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		out = again
	}
	return out.Bytes()
}

// A server that answers without end, in any wrapping, costs a bounded number of bytes.
func TestAnswersAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	const much = 48 << 20
	once, twice, page := packed(t, "  ", much, 1), packed(t, "  ", much, 2), packed(t, "  ", mostListed+1<<20, 1)
	answers := map[string]http.HandlerFunc{
		"blanks in gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(once)
		},
		"a page in gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(page)
		},
		"gzip in gzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip, gzip")
			_, _ = w.Write(twice)
		},
		"deflate": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "deflate")
			z := zlib.NewWriter(w)
			flood(z, "  ", much)
			_ = z.Close()
		},
		"chunks":  func(w http.ResponseWriter, _ *http.Request) { flood(w, "  ", much) },
		"objects": func(w http.ResponseWriter, _ *http.Request) { flood(w, "{},{},", much) },
		"a promise": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(much))
			flood(w, " ", much)
		},
		"its header": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 64 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1<<20))
			}
		},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers[r.Header.Get("X-Answer")](w, r) }))
	t.Cleanup(srv.Close)
	for name := range answers {
		for path, most := range map[string]int64{"/apis": mostTold, "/openapi/v3": mostTold, "/api/v1/namespaces/kube-system": mostObject, "/api/v1/pods?limit=500": mostListed} {
			if (name == "a page in gzip") != (most == mostListed) && name != "objects" {
				continue
			}
			rt := Probe(http.DefaultTransport, srv.URL)
			req := request(t, http.MethodGet, srv.URL+path, "", "X-Answer", name)
			resp, err := rt.RoundTrip(req)
			var n int64
			if err == nil {
				n, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			if n > most {
				t.Errorf("%s of %s let %d bytes through", name, path, n)
			}
			var long *LongAnswerError
			if name != "its header" && name != "gzip in gzip" && name != "deflate" && !errors.As(err, &long) || err == nil && n > mostTold {
				t.Errorf("%s of %s: %d bytes, %v, want it given up", name, path, n, err)
			}
		}
	}
}

// A caller that reads such an answer whole, as client-go does, holds no more than the
// bound: not the gigabytes that came of a megabyte.
func TestMemoryOfAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	bomb := packed(t, "  ", 512<<20, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	}))
	t.Cleanup(srv.Close)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	rt := Probe(http.DefaultTransport, srv.URL)
	var long *LongAnswerError
	for range 5 { // it cannot be asked for in pieces either
		resp, err := rt.RoundTrip(request(t, http.MethodGet, srv.URL+"/apis", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !errors.As(err, &long) {
			t.Fatalf("ReadAll = %v, want it given up", err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys - before.Sys); grown > 8*mostTold {
		t.Errorf("%d MiB more of the system for %d KiB of answers", grown>>20, 5*len(bomb)>>10)
	}
	if _, err := io.Copy(io.Discard, mustAnswer(t, rt, srv.URL+"/version")); !errors.As(err, &long) || !strings.Contains(long.Why, "about itself") {
		t.Errorf("after 160 MiB of discovery: %v", err)
	}
}

func mustAnswer(t *testing.T, rt http.RoundTripper, address string) io.Reader {
	t.Helper()
	resp, err := rt.RoundTrip(request(t, http.MethodGet, address, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.Body
}

// body is an answer of n bytes.
func body(n int64) *http.Response {
	return &http.Response{Body: io.NopCloser(io.LimitReader(zeros{}, n))}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// Answers in flight share one budget: who would go over it fails at once, and what was read gives its part back.
func TestOneBudgetForAllAnswers(t *testing.T) {
	t.Parallel()
	left := &budget{left: 100}
	var over error
	open := func(n int64) *http.Response {
		r := body(n)
		within(r, bound{bytes: 1000, held: 1000}, left, func(why string) error { return errors.New(why) })
		return r
	}
	read := func(r *http.Response, n int64) error {
		_, err := io.CopyN(io.Discard, r.Body, n)
		return err
	}
	a, b := open(80), open(80)
	if err := errors.Join(read(a, 60), read(b, 40)); err != nil {
		t.Fatal(err)
	}
	if over = read(b, 1); over == nil || !strings.Contains(over.Error(), "all answers") {
		t.Fatalf("over the budget: %v", over)
	}
	if err := read(b, 1); err == nil {
		t.Error("what was given up goes on")
	}
	if err := read(a, 20); err != nil { // the other one gave its part back
		t.Error(err)
	}
	for _, r := range []*http.Response{a, b, a} { // twice is once
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if left.left != 100 {
		t.Errorf("%d of 100 are left when nothing is read", left.left)
	}
	for range 10 { // one after the other there is no end of them
		r := open(80)
		if err := read(r, 80); err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
	}
}

// A watch and a log that is followed go on for as long as they like.
func TestStreamsFlow(t *testing.T) {
	t.Parallel()
	for path, bounded := range map[string]bool{
		"/api/v1/pods?watch=1": false, "/api/v1/pods?watch=true": false, "/api/v1/pods?watch=false": true, "/api/v1/pods?watch=0": true, "/api/v1/pods": true,
		"/api/v1/namespaces/a/pods/b/log?follow=true": false, "/api/v1/namespaces/a/pods/b/log": true, "/apis": true, "/version": true,
	} {
		req := request(t, http.MethodGet, path, "")
		if _, ok := boundOf(req, req.URL.Path, false, nil); ok != bounded {
			t.Errorf("%s: bounded %v, want %v", path, ok, bounded)
		}
	}
	turn, done := make(chan bool), make(chan bool)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 3 {
			_, _ = fmt.Fprintf(w, "event %d\n", i)
			w.(http.Flusher).Flush()
			<-turn
		}
		close(done)
	}))
	t.Cleanup(srv.Close)
	events := mustAnswer(t, Probe(http.DefaultTransport, srv.URL), srv.URL+"/api/v1/pods?watch=1")
	for i := range 3 { // each arrives before the next is made
		line := make([]byte, len("event 0\n"))
		if _, err := io.ReadFull(events, line); err != nil || string(line) != fmt.Sprintf("event %d\n", i) {
			t.Fatalf("event %d is %q, %v", i, line, err)
		}
		turn <- true
	}
	<-done
}
