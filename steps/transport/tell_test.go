package transport

import (
	"context"
	"net/http"
	"slices"
	"testing"
)

// What a request authenticates with is named before the request leaves.
func TestTell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, header, value string
		want                []string
	}{
		{"bearer", "Authorization", "Bearer opaque-token-1", []string{"opaque-token-1"}},
		{"no scheme", "Authorization", "opaque-token-1", []string{"opaque-token-1"}},
		{"basic", "Authorization", "Basic bWU6Y29ycmVjdCBob3JzZQ==", []string{"bWU6Y29ycmVjdCBob3JzZQ==", "correct horse"}},
		{"broken basic", "Authorization", "Basic ***", []string{"***"}},
		{"proxy", "Proxy-Authorization", "Bearer opaque-token-2", []string{"opaque-token-2"}},
		{"cookies", "Cookie", "sid=one; csrf=a%2Fb", []string{"one", "a%2Fb", "a/b"}},
		{"own header", "X-Auth-Token", "opaque-token-3", []string{"opaque-token-3"}},
		{"api key", "X-Api-Key", "opaque-token-4", []string{"opaque-token-4"}},
		{"nothing", "Accept", "application/json", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			var got []string
			rt := Tell(rec, func(_ context.Context, v string) {
				if len(rec.sent) > 0 {
					t.Error("told after the request had left")
				}
				got = append(got, v)
			})
			req := request(t, http.MethodGet, "/api/v1/pods", "")
			req.Header.Set(tc.header, tc.value)
			if err := send(t, rt, req); err != nil || len(rec.sent) != 1 {
				t.Fatalf("sent %d, %v", len(rec.sent), err)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("told %q, want %q", got, tc.want)
			}
		})
	}
}
