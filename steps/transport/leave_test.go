package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"handrail/steps/transport"
)

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// closeRecorder says when it was closed.
type closeRecorder struct {
	io.Reader
	closed chan struct{}
}

func (c closeRecorder) Close() error { close(c.closed); return nil }

func TestLeave(t *testing.T) {
	t.Parallel()
	body := closeRecorder{strings.NewReader("late"), make(chan struct{})}
	held, begun := make(chan struct{}), make(chan struct{})
	deaf := tripper(func(*http.Request) (*http.Response, error) {
		close(begun)
		<-held // as a credential plugin that waits for a person
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-begun; cancel() }()
	if resp, err := transport.Leave(deaf).RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("RoundTrip() = %v, %v, want %v", resp, err, context.Canceled)
	}
	close(held)
	<-body.closed // an answer that is not waited for is closed

	quick := tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	resp, err := transport.Leave(quick).RoundTrip(req.WithContext(t.Context()))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("RoundTrip() = %v, %v, want the answer", resp, err)
	}
	_ = resp.Body.Close()
}
