package transport

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"handrail/steps"
)

// Fetch returns a transport for the servers that hold states and locks as
// objects: GET and HEAD without a body, to server and to no other. server ""
// binds it to the server of its first request, for clients that find out by
// themselves who serves a bucket.
func Fetch(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, fetches)
}

// Entries returns a transport that reads keys and sessions of consul.
func Entries(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, func(req *http.Request, path string) string {
		if why := fetches(req, path); why != "" {
			return why
		}
		if !strings.HasPrefix(path, "/v1/kv/") && !strings.HasPrefix(path, "/v1/session/info/") {
			return "it asks for something else than a key or a session"
		}
		query, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			return "its query cannot be read"
		}
		for name := range query {
			switch name {
			case "raw", "keys", "dc", "ns", "partition", "consistent":
			default:
				return fmt.Sprintf("the option %q is not known to be a read", name)
			}
		}
		return ""
	})
}

// Items returns a transport that gets single items of DynamoDB.
func Items(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return Operations(next, server, []string{"DynamoDB_20120810.GetItem"}, opts...)
}

func fetches(req *http.Request, _ string) string {
	switch {
	case req.Method != "" && req.Method != http.MethodGet && req.Method != http.MethodHead:
		return "the method writes"
	case hasBody(req):
		return "a read has no body"
	}
	return ""
}

// newReader is newGuard for servers whose keys may hold any character: nothing
// but a read, or a request that was shown, passes, so no path can be read as
// another write.
func newReader(next http.RoundTripper, server string, opts []Option, allow func(*http.Request, string) string) http.RoundTripper {
	g := &guard{next: next, stamp: newStamp(opts), allow: allow, anyPath: true}
	if server != "" {
		g.base, g.err = parseServer(server)
	}
	return g
}

// FetchClient is a client behind [Fetch] of the server at an address of [AskAddress]; done lets its connections go. It
// follows no redirect: the caller sees it, and what the request signs in with goes to no other address.
func FetchClient(env steps.Env, server *url.URL, roots *x509.CertPool, opts ...Option) (client *http.Client, done func()) {
	next := askRoute(env, server.Scheme, roots)
	return &http.Client{
		Transport:     Fetch(next, strings.TrimSuffix(server.String(), "/"), opts...),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, next.CloseIdleConnections
}

// StoreClient is a client behind [Store] of the server at an address of [AskAddress]: it sends the allowed requests, each once,
// and follows no redirect.
func StoreClient(env steps.Env, server *url.URL, roots *x509.CertPool, allowed []Request, opts ...Option) (client *http.Client, done func()) {
	next := askRoute(env, server.Scheme, roots)
	return &http.Client{
		Transport:     Store(next, strings.TrimSuffix(server.String(), "/"), allowed, opts...),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, next.CloseIdleConnections
}
