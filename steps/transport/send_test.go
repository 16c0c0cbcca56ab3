package transport

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"handrail/steps"
)

// TestSend: which answers leave open whether a request was done.
func TestSend(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{200: "done", 201: "done", 204: "done", 301: "not taken", 307: "not taken", 400: "not taken", 403: "not taken", 409: "not taken", 500: "open", 502: "open", 599: "open", 0: "open"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				_, _ = w.Write([]byte("words of the server"))
			}
		}))
		client := &http.Client{Transport: &http.Transport{Proxy: nil}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, srv.URL+"/a%20b?secret=word", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Send(client, req, func(raw []byte) string { return string(raw) })
		got := "open"
		switch {
		case err == nil:
			got = "done"
		case errors.Is(err, ErrNotTaken):
			got = "not taken"
		}
		if got != want || err != nil && (!strings.Contains(err.Error(), "PUT 127.0.0.1:") || strings.Contains(err.Error(), "secret")) || err != nil && status > 0 && !strings.Contains(err.Error(), "words of the server") {
			t.Errorf("%d: %s (%v), want %s", status, got, err, want)
		}
		srv.Close()
	}
}

// TestSettled: what an act came to, by how its request ended and what is there.
func TestSettled(t *testing.T) {
	t.Parallel()
	refused, cut := errors.Join(ErrNotTaken, errors.New("403")), errors.New("cut off")
	for _, tc := range []struct {
		sent, again error
		is, want    string // want "" is unknown
	}{
		{nil, nil, steps.Done, steps.Done}, {nil, nil, steps.Failed, steps.Failed}, {nil, cut, "", ""},
		{refused, nil, steps.Failed, steps.Refused}, {refused, nil, steps.Done, ""}, {refused, cut, "", ""},
		{cut, nil, steps.Done, ""}, {cut, nil, steps.Failed, ""},
	} {
		o, err := Settled(tc.sent, func() (steps.Outcome, error) { return steps.Outcome{Result: tc.is}, tc.again })
		if o.Result != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%v, %v, %s: %+v, %v, want %q", tc.sent, tc.again, tc.is, o, err, tc.want)
		}
	}
}
