package cluster

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestSlow: what ends for want of time says so.
func TestSlow(t *testing.T) {
	t.Parallel()
	c := &Client{Access: Access{Server: "https://one.example"}}
	err := c.Explain(http.MethodGet, "/apis/example.com/v1/things/x", context.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "gave no answer") {
		t.Errorf("error = %v", err)
	}
}

// TestRequestTimeout: --request-timeout may ask for less patience, not for more.
func TestRequestTimeout(t *testing.T) {
	t.Parallel()
	for want, flag := range map[time.Duration]time.Duration{askTime: 0, time.Second: time.Second} {
		if got := (Access{Config: &rest.Config{Timeout: flag}}).patience(); got != want {
			t.Errorf("patience with --request-timeout=%s = %s, want %s", flag, got, want)
		}
	}
	if got := (Access{Config: &rest.Config{Timeout: time.Hour}}).patience(); got != askTime {
		t.Errorf("patience with an hour = %s, want %s", got, askTime)
	}
}
