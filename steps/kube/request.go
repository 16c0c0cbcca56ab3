package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
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

// newSender makes a client whose every request passes guard.
func newSender(c *client, guard func(http.RoundTripper) http.RoundTripper) (*sender, error) {
	client, err := c.guarded(guard)
	if err != nil {
		return nil, err
	}
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

// text is a request as a preview shows it.
func (r request) text() string { return fmt.Sprintf("%s %s %s", r.method, r.address(), r.body) }

// later stands for what only the re-read knows, so that a request reads the same
// at each preview.
const later = "<resourceVersion of the re-read>"

// compact writes JSON as a person reads it: <, > and & stay.
func compact(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// aboutState reports whether a refusal is about what is there, which somebody
// else may have made so.
func (a answer) aboutState() bool {
	return slices.Contains([]int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}, a.code)
}
