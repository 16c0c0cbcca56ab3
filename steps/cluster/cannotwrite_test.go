package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
)

// TestClientCannotWrite: not even one who tries gets a write out of the client.
func TestClientCannotWrite(t *testing.T) {
	t.Parallel()
	var heard atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard.Add(1)
		http.Error(w, "{}", http.StatusOK)
	}))
	defer srv.Close()
	c, err := Connect(steps.Env{Home: t.TempDir(), Now: time.Now, Kubectl: []string{"--server=" + srv.URL}}, steps.SecretsOnly(nil))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces/a/configmaps"
	for _, err := range []error{
		c.rest.Delete().AbsPath(path + "/a").Do(t.Context()).Error(),
		c.rest.Post().AbsPath(path).Body([]byte(`{"metadata":{"name":"b"}}`)).Do(t.Context()).Error(),
		c.rest.Verb("DELETE").AbsPath(path).Do(t.Context()).Error(),
		c.rest.Verb("PATCH").AbsPath(path + "/a").Body([]byte(`[]`)).Do(t.Context()).Error(),
		c.rest.Put().AbsPath(path + "/a").Body([]byte(`{}`)).Do(t.Context()).Error(),
	} {
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("a write through the client of probes = %v", err)
		}
	}
	if n := heard.Load(); n > 0 {
		t.Errorf("the server heard of %d of them", n)
	}
}
