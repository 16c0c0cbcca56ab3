package act

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

	"handrail/steps/cluster"
	"handrail/steps/transport"
)

const (
	// ServerTime is how long the server may work on a write: it is told so, and
	// gives up by itself.
	ServerTime = 15 * time.Second
	// writeTime is how long we listen for its answer; after it the request can
	// no longer take effect.
	writeTime = ServerTime + 2*time.Second
	// mostAnswer bounds an answer that is kept in memory.
	mostAnswer = 16 << 20
)

// Request is the one write of a gate.
type Request struct {
	Method string
	Path   string // below the prefix of the server
	Media  string
	Body   []byte
	Query  url.Values
}

// Address is path and query as they are sent.
func (r Request) Address() string {
	if len(r.Query) == 0 {
		return r.Path
	}
	return r.Path + "?" + r.Query.Encode()
}

// Rehearsal is r with dryRun=All in its query.
func (r Request) Rehearsal() Request {
	query := url.Values{"dryRun": {"All"}}
	for key, values := range r.Query {
		query[key] = values
	}
	r.Query = query
	return r
}

// Answer is what the server said to a write.
type Answer struct {
	Code     int
	Body     []byte
	audit    string   // the Audit-ID by which the server knows the request
	warnings []string // what it said beside
}

// OK reports whether the server took the request.
func (a Answer) OK() bool { return a.Code/100 == 2 }

// Sender sends requests through a guard of steps/transport, each at most once.
type Sender struct {
	client *http.Client
	server string
}

// NewSender makes a client whose every request passes guard.
func NewSender(c *cluster.Client, guard func(http.RoundTripper) http.RoundTripper) (*Sender, error) {
	client, err := c.Through(guard)
	if err != nil {
		return nil, err
	}
	return &Sender{client: client, server: strings.TrimSuffix(c.Server, "/")}, nil
}

// NewRehearser makes a client through which nothing can be stored: beside reads it lets
// writes with dryRun=All alone pass.
func NewRehearser(c *cluster.Client) (*Sender, error) {
	return NewSender(c, func(next http.RoundTripper) http.RoundTripper {
		return transport.Rehearse(next, c.Server, cluster.Stamps(c.Env)...)
	})
}

// Send sends r once. left says that the request may have reached the server,
// whatever err says.
func (w *Sender) Send(ctx context.Context, r Request) (a Answer, left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, r.Method, w.server+r.Address(), bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, false, err
	}
	req.Header.Set("Accept", cluster.AsJSON)
	req.Header.Set("Content-Type", r.Media)
	resp, err := w.client.Do(req)
	if err != nil {
		return Answer{}, connected.Load(), err
	}
	defer func() { _ = resp.Body.Close() }()
	a = Answer{Code: resp.StatusCode, audit: resp.Header.Get("Audit-ID")}
	if said, errs := utilnet.ParseWarningHeaders(resp.Header["Warning"]); len(errs) == 0 {
		for _, w := range said {
			a.warnings = append(a.warnings, w.Text)
		}
	}
	if a.Body, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer)); err != nil {
		return a, true, fmt.Errorf("reading the answer: %w", err)
	}
	return a, true, nil
}

// Text is a request as a preview shows it.
func (r Request) Text() string { return fmt.Sprintf("%s %s %s", r.Method, r.Address(), r.Body) }

// Later stands for what only the re-read knows, so that a request reads the same
// at each preview.
const Later = "<resourceVersion of the re-read>"

// Compact writes JSON as a person reads it: <, > and & stay.
func Compact(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// aboutState reports whether a refusal is about what is there, which someone
// else may have made so.
func (a Answer) aboutState() bool {
	return slices.Contains([]int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}, a.Code)
}
