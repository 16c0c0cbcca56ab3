package transport_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/transport"
)

// TestActAsksWhetherItMayBegin: what was shown is not sent once it is too late, and
// the rest of what was begun is.
func TestActAsksWhetherItMayBegin(t *testing.T) {
	t.Parallel()
	got := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	defer srv.Close()
	rt := transport.Act(http.DefaultTransport, srv.URL, []transport.Request{
		{Method: "DELETE", Path: "/api/v1/namespaces/a/configmaps/b", SHA256: transport.Sum(nil)},
		{Method: "DELETE", Path: "/api/v1/namespaces/a/configmaps/c", SHA256: transport.Sum(nil)},
	})
	may := errors.New("the lid was closed")
	ctx := steps.BeginWhile(t.Context(), func() error { return may })
	send := func(name string) error {
		req, err := http.NewRequestWithContext(ctx, "DELETE", srv.URL+"/api/v1/namespaces/a/configmaps/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := send("b"); err == nil || !strings.Contains(err.Error(), "the lid was closed") || got != 0 {
		t.Fatalf("sent %d, %v, want nothing sent", got, err)
	}
	may = nil
	if err := send("c"); err != nil || got != 1 {
		t.Errorf("sent %d, %v, want it sent", got, err)
	}
}
