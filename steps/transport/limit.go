package transport

import (
	"math"
	"net/http"
)

// Limit returns a transport that lets requests pass as they are and counts their
// answers, for clients that no guard of this package stands before: one that tells a
// token, a time stamp, a list or the description of something is 32 MiB at most after
// decompression, and whatever is being read at once comes to no more than for all
// others. Where stream says so, the answer is a content of any length, which its reader
// takes in parts; nil is never.
func Limit(next http.RoundTripper, stream func(*http.Request) bool) http.RoundTripper {
	return limit{next, stream}
}

type limit struct {
	next   http.RoundTripper
	stream func(*http.Request) bool
}

// RoundTrip implements http.RoundTripper.
func (l limit) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	b := bound{bytes: mostTold, values: mostValuesTold, held: mostTold}
	if l.stream != nil && l.stream(req) {
		b = bound{bytes: math.MaxInt64, held: heldStored}
	}
	within(resp, b, inFlight, func(why string) error { return &LongAnswerError{req.Method, req.URL.Path, why} })
	return resp, nil
}
