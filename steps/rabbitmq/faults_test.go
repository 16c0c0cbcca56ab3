package rabbitmq

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"handrail/steps"
)

// spoilt are the ways in which an answer of the broker may come wrong.
var spoilt = map[string]func(rw http.ResponseWriter, code int, body string){
	"cut": func(rw http.ResponseWriter, _ int, body string) {
		rw.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = io.WriteString(rw, body[:len(body)/2])
		panic(http.ErrAbortHandler)
	},
	"cut at the end":     func(rw http.ResponseWriter, _ int, body string) { _, _ = io.WriteString(rw, body[:len(body)-1]) },
	"empty":              func(rw http.ResponseWriter, _ int, _ string) { rw.WriteHeader(http.StatusOK) },
	"no content":         func(rw http.ResponseWriter, _ int, _ string) { rw.WriteHeader(http.StatusNoContent) },
	"null":               func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "null") },
	"a number":           func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "7") },
	"an empty object":    func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "{}") },
	"a page of login":    func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "<html>sign in</html>") },
	"twice":              func(rw http.ResponseWriter, _ int, body string) { _, _ = io.WriteString(rw, body+body) },
	"entries of numbers": func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "[1,2]") },
	"entries of nothing": func(rw http.ResponseWriter, _ int, _ string) { _, _ = io.WriteString(rw, "[{},{}]") },
	"more pages": func(rw http.ResponseWriter, _ int, body string) {
		_, _ = io.WriteString(rw, regexp.MustCompile(`"page_count":\d+`).ReplaceAllString(body, `"page_count":3`))
	},
	"another total": func(rw http.ResponseWriter, _ int, body string) {
		_, _ = io.WriteString(rw, regexp.MustCompile(`"filtered_count":\d+`).ReplaceAllString(body, `"filtered_count":99`))
	},
	"unavailable": func(rw http.ResponseWriter, _ int, _ string) { rw.WriteHeader(http.StatusServiceUnavailable) },
	"too many":    func(rw http.ResponseWriter, _ int, _ string) { rw.WriteHeader(http.StatusTooManyRequests) },
	"not found": func(rw http.ResponseWriter, _ int, _ string) {
		http.Error(rw, "404 page not found", http.StatusNotFound)
	},
	"login": func(rw http.ResponseWriter, _ int, _ string) {
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(rw, `{"error":"not_authorized","reason":"Login failed"}`)
	},
	"dropped": func(http.ResponseWriter, int, string) { panic(http.ErrAbortHandler) },
}

// Whatever comes instead of one of the real answers, no fact is known to be
// something that it is not.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	for _, kind := range []struct {
		name  string
		paths []string
		in    map[string]string
	}{
		{"rabbitmq/vhosts", []string{"/api/whoami", "/api/vhosts"}, map[string]string{"wanted": "/parcels-internal"}},
		{"rabbitmq/bindings", []string{"/api/bindings/", "/api/exchanges/", "/api/queues/"}, map[string]string{"vhost": "/platform", "declared": declaredParcels}},
	} {
		in := map[string]string{"url": w.URL}
		for k, v := range kind.in {
			in[k] = v
		}
		truth, _, err := probe(t, operator(t, w.URL, viewer, viewerWord), kind.name, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range kind.paths {
			for name, spoil := range spoilt {
				t.Run(kind.name+" "+path+" "+name, func(t *testing.T) {
					t.Parallel()
					url := front(t, w, func(rw http.ResponseWriter, r *http.Request, broker http.Handler) {
						if !strings.HasPrefix(r.URL.Path, path) {
							broker.ServeHTTP(rw, r)
							return
						}
						r.Header.Del("Accept-Encoding")
						rec := httptest.NewRecorder()
						broker.ServeHTTP(rec, r)
						spoil(rw, rec.Code, rec.Body.String())
					})
					in := map[string]string{"url": url}
					for k, v := range kind.in {
						in[k] = v
					}
					obs, _, err := probe(t, operator(t, url, viewer, viewerWord), kind.name, in)
					for fact, v := range obs.Facts {
						if fact == "vhosts" && v.Known() && len(v.Strings()) >= 3 {
							continue // other tests make some beside
						}
						if v.Known() && v.Text() != truth.Facts[fact].Text() {
							t.Errorf("%s is %s, and it is %s (%v)", fact, v.Text(), truth.Facts[fact].Text(), err)
						}
					}
					// What comes as one has no pages to be wrong.
					paged := name != "more pages" && name != "another total" || path != "/api/whoami" && path != "/api/bindings/"
					if err == nil && len(obs.Gaps) == 0 && paged {
						t.Errorf("nothing is said of it: %v", facts(obs))
					}
				})
			}
		}
	}
}

// Who gives up does not wait for a broker that does not answer.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	held := make(chan struct{})
	defer close(held)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		select {
		case <-held:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	for _, k := range Kinds() {
		in := steps.Params{"url": steps.StringOf(s.URL), "vhost": steps.StringOf("/"), "declared": steps.StringOf(declaredParcels)}
		if _, err := k.Reads(operator(t, s.URL, viewer, viewerWord)).Probe(ctx, in, &sink{}); err == nil {
			t.Errorf("%s: no error", k.Name)
		}
	}
}
