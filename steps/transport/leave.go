package transport

import (
	"net/http"

	"handrail/steps/fault"
)

// Leave returns a transport that gives up a request when its context ends, even
// where next does not: client-go runs credential plugins inside a request and
// cannot be told to stop waiting for one. The request that was left goes on
// beside, through the guards below, until the plugin ends.
func Leave(next http.RoundTripper) http.RoundTripper { return leaver{next} }

type leaver struct{ next http.RoundTripper }

type answer struct {
	resp *http.Response
	err  error
}

// RoundTrip implements http.RoundTripper.
func (l leaver) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	came := make(chan answer, 1)
	go func() {
		defer fault.To(func(err error) { came <- answer{nil, err} })
		resp, err := l.next.RoundTrip(req)
		if err == nil && ctx.Err() != nil {
			_ = resp.Body.Close() // it is not waited for
			err = ctx.Err()
		}
		came <- answer{resp, err}
	}()
	select {
	case a := <-came:
		return a.resp, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
