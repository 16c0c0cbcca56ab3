package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveStatus answers what release a service runs, to who has the token, on $STATUS_PORT:
// status
func serveStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: status")
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/services/applies" || r.Header.Get("Authorization") != "Bearer tok-77e0c1d2f3a4" {
			http.Error(w, "not for you", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"version":"1.4.1","for":%q}`, r.Header.Get("Authorization"))
	}))
	ts.Defer(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("STATUS_PORT", port)
}
