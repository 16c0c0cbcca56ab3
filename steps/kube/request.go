package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

const (
	// serverTime is how long the server may work on a write: it is told so, and
	// gives up by itself.
	serverTime = 15 * time.Second
	// writeTime is how long we listen for its answer; after it the request can
	// no longer take effect.
	writeTime = serverTime + 2*time.Second
	// mostAnswer bounds an answer that is kept in memory.
	mostAnswer = 16 << 20
	// fieldManager is who writes, in the object's own books.
	fieldManager = "handrail"
)

// request is the one write of a gate.
type request struct {
	method string
	path   string // below the prefix of the server
	media  string
	body   []byte
	query  url.Values
}

// address is path and query as they are sent.
func (r request) address() string {
	if len(r.query) == 0 {
		return r.path
	}
	return r.path + "?" + r.query.Encode()
}

// rehearsal is r with dryRun=All in its query.
func (r request) rehearsal() request {
	query := url.Values{"dryRun": {"All"}}
	for key, values := range r.query {
		query[key] = values
	}
	r.query = query
	return r
}

// answer is what the server said to a write.
type answer struct {
	code     int
	body     []byte
	audit    string   // the Audit-ID by which the server knows the request
	warnings []string // what it said beside
}

func (a answer) ok() bool { return a.code/100 == 2 }

// sender sends requests through a guard of steps/transport, each at most once.
type sender struct {
	client *http.Client
	server string
}

// sender makes a client whose every request passes guard.
func (c *client) sender(guard func(http.RoundTripper) http.RoundTripper) (*sender, error) {
	client, err := rest.HTTPClientFor(c.config(func(next http.RoundTripper) http.RoundTripper {
		return c.heard.listen(guard(next))
	}))
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", c.Server, err)
	}
	// A redirected write would be a second request.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sender{client: client, server: strings.TrimSuffix(c.Server, "/")}, nil
}

// send sends r once. left says that the request may have reached the server,
// whatever err says.
func (w *sender) send(ctx context.Context, r request) (a answer, left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, r.method, w.server+r.address(), bytes.NewReader(r.body))
	if err != nil {
		return answer{}, false, err
	}
	req.Header.Set("Accept", asJSON)
	req.Header.Set("Content-Type", r.media)
	resp, err := w.client.Do(req)
	if err != nil {
		return answer{}, connected.Load(), err
	}
	defer func() { _ = resp.Body.Close() }()
	a = answer{code: resp.StatusCode, audit: resp.Header.Get("Audit-ID")}
	if said, errs := utilnet.ParseWarningHeaders(resp.Header["Warning"]); len(errs) == 0 {
		for _, w := range said {
			a.warnings = append(a.warnings, w.Text)
		}
	}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer)); err != nil {
		return a, true, fmt.Errorf("reading the answer: %w", err)
	}
	return a, true, nil
}
