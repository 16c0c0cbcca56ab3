package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"

	"handrail/steps"
)

// Request is one request as it was shown to a person.
type Request struct {
	Method string
	Path   string // path and query, as sent, below the server's prefix
	SHA256 string // of the body in hex; the hash of nothing for no body
}

// Sum returns the hash of a body in the form that Request holds.
func Sum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Act returns a transport that sends the allowed requests, each once, and
// nothing else: not even reads, which belong to Probe.
func Act(next http.RoundTripper, server string, allowed []Request, opts ...Option) http.RoundTripper {
	return newGuard(next, server, opts, once(allowed, maxBody, func(path string) string {
		_, why := parsePath(path)
		return why
	}))
}

// Store is Act for the servers that hold states as objects, whose keys may hold
// any character. server "" binds it to the server of its first request.
func Store(next http.RoundTripper, server string, allowed []Request, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, once(allowed, maxStateBody, func(string) string { return "" }))
}

// once lets each request through as often as it stands in allowed.
func once(allowed []Request, most int64, check func(path string) (why string)) func(*http.Request, string) string {
	var mu sync.Mutex
	left := make(map[Request]int, len(allowed))
	for _, r := range allowed {
		left[r]++
	}
	return func(req *http.Request, path string) string {
		if why := check(path); why != "" {
			return why
		}
		body, err := takeBody(req, most)
		if err != nil {
			return err.Error()
		}
		if req.URL.RawQuery != "" {
			path += "?" + req.URL.RawQuery
		}
		mu.Lock()
		defer mu.Unlock()
		key := Request{Method: req.Method, Path: path, SHA256: Sum(body)}
		if left[key] == 0 {
			return "it is not a request that was shown, or it was sent already"
		}
		if err := steps.Begin(req.Context()); err != nil {
			return err.Error()
		}
		left[key]--
		return ""
	}
}
