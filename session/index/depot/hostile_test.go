package depot_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"handrail/session/index/depot"
	"handrail/session/index/depot/bucket"
)

// stranger is a server that does as it likes.
type stranger struct {
	depot.Store
	size int64
	body func(ctx context.Context) io.ReadCloser
}

func (s stranger) Find(_ context.Context, id string) (depot.BundleInfo, error) {
	return depot.BundleInfo{ID: id, Place: "far/" + id, Size: s.size, Version: "1"}, nil
}
func (s stranger) Open(ctx context.Context, _ depot.BundleInfo, _ int64) (io.ReadCloser, error) {
	return s.body(ctx), nil
}
func (stranger) Secrets() []string { return nil }

// silent is a connection over which nothing comes.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (silent) Close() error               { return nil }

func TestServersOfStrangers(t *testing.T) {
	t.Parallel()
	endless := func(context.Context) io.ReadCloser { return io.NopCloser(zeros{}) }
	for what, c := range map[string]struct {
		server stranger
		want   error
		says   string
	}{
		"more than a bundle may hold": {stranger{size: 9 << 30, body: endless}, depot.ErrUnverified, "over what a bundle may hold"},
		"more than it said":           {stranger{size: 1 << 20, body: endless}, depot.ErrUnverified, "more than the 1048576 bytes"},
		"less than it said": {stranger{size: 10, body: func(context.Context) io.ReadCloser { return io.NopCloser(strings.NewReader("short")) }},
			io.ErrUnexpectedEOF, "after 5 of 10 bytes"},
		"nothing for ever": {stranger{size: 10, body: func(ctx context.Context) io.ReadCloser { return silent{ctx} }}, nil, "nothing received for 1m0s"},
	} {
		t.Run(what, func(t *testing.T) {
			dest := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				_, err := depot.Pull(t.Context(), c.server, "one", dest, nil)
				if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Pull() = %v, want %q", err, c.says)
				}
			})
			if got := names(t, dest); len(got) != 0 {
				t.Errorf("%v became visible", got)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// through opens a bucket over a proxy that answers some requests itself, and
// once more without it.
func through(t *testing.T, proxy func(*httputil.ReverseProxy) *httptest.Server, more ...func(way *httptest.Server) func(*config.LoadOptions) error) (over, direct depot.Store) {
	t.Helper()
	dir := t.TempDir()
	s := serve(t, "s3", dir)
	mkdir(t, filepath.Join(dir, "buckets", "team"))
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	way := proxy(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }})
	t.Cleanup(way.Close)
	open := func(url string, more ...func(*config.LoadOptions) error) depot.Store {
		b, err := bucket.Open(t.Context(), "s3://team/x", append(more, config.WithBaseEndpoint(url), config.WithRegion("us-east-1"),
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(envOf(t, s, "AWS_ACCESS_KEY_ID"), envOf(t, s, "AWS_SECRET_ACCESS_KEY"), "")))...)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var options []func(*config.LoadOptions) error
	for _, m := range more {
		options = append(options, m(way))
	}
	return open(way.URL, options...), open(s.URL)
}

// A server without conditional writes is looked at before and read after.
func TestServerWithoutConditions(t *testing.T) {
	t.Parallel()
	refused := 0
	var mu sync.Mutex
	store, _ := through(t, func(p *httputil.ReverseProxy) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				p.ServeHTTP(w, r)
				return
			}
			mu.Lock()
			refused++
			mu.Unlock()
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusNotImplemented)
			_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>NotImplemented</Code><Message>no conditions here</Message></Error>`)
		}))
	})
	dir := t.TempDir()
	for id, src := range map[string]string{"small": bundle(t, filepath.Join(dir, "a"), "small", "first"), twoParts: largeBundle(t, twoParts)} {
		if r := push(t, src, store); r.Already {
			t.Errorf("%s: %+v", id, r)
		}
		other := bundle(t, filepath.Join(dir, "b"), id, "another story")
		if _, err := depot.Push(t.Context(), other, t.TempDir(), store, nil); !errors.Is(err, depot.ErrOther) {
			t.Errorf("%s: another history = %v, want ErrOther", id, err)
		}
	}
	if refused == 0 {
		t.Error("no write had a condition")
	}
}

// What another writer puts there between our read and our write is not overwritten,
// since the server holds the write to its condition.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	var rival atomic.Value // the bundle that is faster
	var direct depot.Store
	store, other := through(t, func(p *httputil.ReverseProxy) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if src, ok := rival.Load().(string); ok && src != "" && r.Header.Get("If-None-Match") != "" {
				rival.Store("")
				if _, err := depot.Push(context.WithoutCancel(r.Context()), src, filepath.Join(work, "theirs"), direct, nil); err != nil {
					t.Error(err)
				}
			}
			p.ServeHTTP(w, r)
		}))
	})
	direct = other
	for id, ours := range map[string]string{"small": bundle(t, filepath.Join(work, "a"), "small", "first"), twoParts: largeBundle(t, twoParts)} {
		theirs := bundle(t, filepath.Join(work, "b"), id, "their story")
		rival.Store(theirs)
		if _, err := depot.Push(t.Context(), ours, filepath.Join(work, "ours"), store, nil); !errors.Is(err, depot.ErrOther) {
			t.Errorf("%s: Push() = %v, want ErrOther", id, err)
		}
		r, err := depot.Pull(t.Context(), direct, id, mkdir(t, filepath.Join(work, "c", id)), nil)
		if err != nil || root(t, r.Path) != root(t, theirs) {
			t.Errorf("%s: theirs was overwritten: %v", id, err)
		}
	}
}

// A server with a certificate of its own is known by AWS_CA_BUNDLE.
func TestCertificateOfOnesOwn(t *testing.T) {
	t.Parallel()
	store, _ := through(t, func(p *httputil.ReverseProxy) *httptest.Server { return httptest.NewTLSServer(p) },
		func(s *httptest.Server) func(*config.LoadOptions) error {
			return config.WithCustomCABundle(bytes.NewReader(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
		})
	src := bundle(t, t.TempDir(), "one", "first")
	if r := push(t, src, store); r.Already {
		t.Errorf("Push() = %+v", r)
	}
}
