package transport

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLimit: what a server tells is bounded after decompression, a content is not, and
// both count for what is read at once.
func TestLimit(t *testing.T) {
	t.Parallel()
	blanks := packed(t, "  ", mostTold+1<<20, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(blanks)
	}))
	t.Cleanup(srv.Close)
	client := &http.Client{Transport: Limit(http.DefaultTransport, func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/contents/") })}
	read := func(path string) (int64, error) {
		resp, err := client.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return io.Copy(io.Discard, resp.Body)
	}
	var long *LongAnswerError
	if n, err := read("/list"); !errors.As(err, &long) || n > mostTold {
		t.Errorf("a list: %d bytes, %v", n, err)
	}
	if n, err := read("/contents/x"); err != nil || n <= mostTold {
		t.Errorf("a content: %d bytes, %v", n, err)
	}
}
