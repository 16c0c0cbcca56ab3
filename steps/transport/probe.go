package transport

import (
	"net/http"
	"net/url"
)

// Probe returns a transport that can read from server and nothing else. server
// is scheme://host:port, with a path prefix where the server has one.
func Probe(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newGuard(next, server, opts, allowRead)
}

// allowRead says why a request is more than a read, "" for a read.
func allowRead(req *http.Request, path string) string {
	t, why := parsePath(path)
	if why != "" {
		return why
	}
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return "its query cannot be read"
	}
	// A GET with refresh makes Argo CD write the Application.
	if query.Has("refresh") {
		return "refresh makes the controller write"
	}
	switch req.Method {
	case "", http.MethodGet, http.MethodHead:
		if hasBody(req) {
			return "a read has no body"
		}
		return ""
	case http.MethodPost:
		if isReview(t) {
			return ""
		}
		return "only the five access reviews may be posted"
	}
	return "the method writes"
}

func hasBody(req *http.Request) bool {
	return req.Body != nil && req.Body != http.NoBody
}
