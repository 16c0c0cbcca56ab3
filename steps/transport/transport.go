// Package transport holds the three ways in which handrail talks to an API
// server, each from one constructor (docs/decisions.md, Transports):
//
//   - [Probe] reads, and asks the five reviews that store nothing;
//   - [Rehearse] may besides write with dryRun=All, inside a preview or a rehearsing probe;
//   - [Act] lets through the requests that were shown to a person, each once;
//
// and the ways in which it reads from the servers of state backends and from
// brokers, which know no write at all: [Fetch], [Entries], [Items], [Operations] and [Broker].
//
// An answer is let through up to a bound, counted after decompression, and all
// that are being read share one budget: see [LongAnswerError].
//
// What is refused never reaches the next round tripper: the rule stands where
// bytes leave the process, so no caller can forget it. A refusal is a
// [*RefusedError]. All of them are safe for concurrent use.
package transport

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// RefusedError says which request was not sent, and why.
type RefusedError struct {
	Method string
	Path   string
	Why    string
	To     string // the other server that an answer led to, "" where none did
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %q refused: %s", e.Method, e.Path, e.Why)
}

// Option sets what a transport writes into every request that it lets through.
type Option func(*stamp)

// Agent sets the User-Agent; "handrail" without it.
func Agent(name string) Option { return func(s *stamp) { s.agent = name } }

// Audit sets where the Audit-ID of each request comes from; "" sends none.
func Audit(next func() string) Option { return func(s *stamp) { s.audit = next } }

// stamp marks requests, so that the server's audit log can name them.
type stamp struct {
	agent string
	audit func() string
}

func newStamp(opts []Option) stamp {
	s := stamp{agent: "handrail"}
	for _, o := range opts {
		o(&s)
	}
	return s
}

func (s stamp) mark(req *http.Request) {
	req.Header.Set("User-Agent", s.agent)
	if s.audit != nil {
		if id := s.audit(); id != "" {
			req.Header.Set("Audit-ID", id)
		}
	}
}

// guard sends what allow accepts to one server and to no other.
type guard struct {
	next  http.RoundTripper
	err   error // of the server's address: everything is refused
	stamp stamp
	allow func(req *http.Request, path string) (why string)
	// anyPath lets keys through that hold what no path of the Kubernetes API does.
	anyPath bool
	told    *share // what the server may tell about itself

	first sync.Mutex // holds base until the first request has named it
	base  *url.URL
}

func newGuard(next http.RoundTripper, server string, opts []Option, allow func(*http.Request, string) string) http.RoundTripper {
	g := &guard{next: next, stamp: newStamp(opts), allow: allow, told: newShare()}
	g.base, g.err = parseServer(server)
	return g
}

// parseServer reads scheme://host:port, with the path prefix that a proxy in
// front of several clusters adds.
func parseServer(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("server address %q is not scheme://host:port", server)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	// A round tripper leaves the request of its caller as it is.
	req = req.Clone(req.Context())
	base, why := g.server(req)
	path := ""
	if why == "" {
		path, why = g.check(base, req)
	}
	if why == "" {
		why = g.allow(req, path)
	}
	if why != "" {
		if req.Body != nil {
			// A RoundTripper closes the body whatever it answers.
			_ = req.Body.Close()
		}
		return nil, refuse(req, why)
	}
	g.stamp.mark(req)
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if why, to := checkAnswer(base, req, resp); why != "" {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		_ = resp.Body.Close()
		return nil, &RefusedError{Method: req.Method, Path: req.URL.Path, Why: why, To: to}
	}
	if b, ok := boundOf(req, path, g.anyPath, g.told); ok {
		within(resp, b, inFlight, func(why string) error { return &LongAnswerError{req.Method, req.URL.Path, why} })
	}
	return resp, nil
}

func refuse(req *http.Request, why string) error {
	e := &RefusedError{Method: req.Method, Why: why}
	if req.URL != nil {
		e.Path = req.URL.Path
	}
	return e
}

// server returns the one server that req may go to.
func (g *guard) server(req *http.Request) (*url.URL, string) {
	if g.err != nil {
		return nil, g.err.Error()
	}
	if req.URL == nil {
		return nil, "it has no address"
	}
	g.first.Lock()
	defer g.first.Unlock()
	if g.base == nil {
		base, err := parseServer(req.URL.Scheme + "://" + req.URL.Host)
		if err != nil {
			return nil, err.Error()
		}
		g.base = base
	}
	return g.base, ""
}

// check holds for every request of every transport. It returns the path below
// the server's prefix.
func (g *guard) check(base *url.URL, req *http.Request) (path, why string) {
	u := req.URL
	switch {
	case u.Scheme != base.Scheme || !strings.EqualFold(u.Host, base.Host) ||
		(req.Host != "" && !strings.EqualFold(req.Host, base.Host)):
		return "", "it goes to another server than " + base.Host
	case u.Opaque != "" || u.User != nil || u.Fragment != "":
		return "", "its address has parts that no API request has"
	}
	if why := plainPath(u); why != "" && !g.anyPath {
		return "", why
	}
	if why := plainHeaders(req.Header); why != "" {
		return "", why
	}
	rest, ok := strings.CutPrefix(u.Path, base.Path)
	if g.anyPath && rest == "" {
		rest = "/" // of an address without a path
	}
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", "it leaves the path prefix of the server"
	}
	return rest, ""
}

// plainPath refuses every path that two parties could read in two ways.
func plainPath(u *url.URL) string {
	if u.RawPath != "" {
		return "its path has encoded separators"
	}
	if strings.ContainsAny(u.Path, "%\\;") {
		return "its path has characters that can be read twice"
	}
	for _, r := range u.Path {
		if r < 0x20 || r >= 0x7f {
			return "its path has characters outside printable ASCII"
		}
	}
	segments := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	for _, s := range segments {
		if s == "." || s == ".." || (s == "" && len(segments) > 1) {
			return "its path has an empty or a dot segment"
		}
	}
	return ""
}

// plainHeaders refuses what turns a read into something else. The header is
// walked, not looked up: a map may hold names in any case.
func plainHeaders(h http.Header) string {
	for name, values := range h {
		switch strings.ToLower(name) {
		case "upgrade", "sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version", ":protocol":
			return "it asks to upgrade the connection"
		case "x-http-method-override", "x-http-method", "x-method-override":
			return "it overrides its method"
		case "connection":
			for _, v := range values {
				if strings.Contains(strings.ToLower(v), "upgrade") {
					return "it asks to upgrade the connection"
				}
			}
		}
	}
	return ""
}

// checkAnswer refuses an answer that leads elsewhere: a redirect to another
// server, or a connection that was upgraded unasked.
func checkAnswer(base *url.URL, req *http.Request, resp *http.Response) (why, other string) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return "the server upgraded the connection", ""
	}
	if resp.StatusCode < 300 || resp.StatusCode > 399 || resp.StatusCode == http.StatusNotModified {
		return "", ""
	}
	where := resp.Header.Get("Location")
	if where == "" {
		return "", ""
	}
	to, err := req.URL.Parse(where)
	switch {
	case err != nil:
		return "the server redirects it to an address that cannot be read", ""
	case to.Scheme != base.Scheme || !strings.EqualFold(to.Host, base.Host):
		// Not the whole address: one that is signed lets its reader in.
		other = to.Scheme + "://" + to.Host
		return fmt.Sprintf("the server redirects it to %q, another server than %s", other, base.Host), other
	}
	return "", ""
}
