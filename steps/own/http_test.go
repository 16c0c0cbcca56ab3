package own

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/transport"
)

func status(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/status":
		fmt.Fprintf(w, `{"depth":5,"method":%q,"token":%q}`, r.Method, r.Header.Get("Authorization"))
	case "/moved":
		http.Redirect(w, r, "/status", http.StatusFound)
	case "/round":
		http.Redirect(w, r, "/round", http.StatusFound)
	case "/away":
		http.Redirect(w, r, "https://elsewhere.example.com/status", http.StatusFound)
	case "/metadata":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	case "/down":
		http.Error(w, "no queue here", http.StatusServiceUnavailable)
	case "/denied":
		http.Error(w, "who are you", http.StatusForbidden)
	case "/bomb":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 64 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		_ = z.Close()
	case "/slow":
		<-r.Context().Done()
	}
}

func asking(t *testing.T, env steps.Env, roots *x509.CertPool, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	outs := []steps.Output{output("depth", steps.Int, "doc.depth", ""), output("method", steps.String, "doc.method", "")}
	sink := stepstest.NewSink()
	if _, given := in["timeout"]; !given {
		in["timeout"] = steps.DurationOf(30 * time.Second)
	}
	in["as"] = steps.EnumOf(asJSON)
	obs, err := stepstest.Observe(t.Context(), httpProbe{env, outs, roots}, fieldsOf("own/http", outs), in, sink)
	return obs, sink, err
}

// TestGetOverVerifiedTLS: one GET, to the one server, whose certificate holds.
func TestGetOverVerifiedTLS(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(status))
	t.Cleanup(srv.Close)
	other := httptest.NewTLSServer(http.HandlerFunc(status))
	t.Cleanup(other.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	env := steps.Env{Runbook: "d1", TrustedRunbook: func(string) error { return nil }, Environ: []string{"STATUS_TOKEN=tok-92b1c07f", "BROKEN=a\r\nHost: x", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1"}}
	distrust := env
	distrust.TrustedRunbook = func(string) error { return errors.New("not looked at") }
	for _, tc := range []struct {
		name, path string
		env        steps.Env
		roots      *x509.CertPool
		want       string
	}{
		{"an answer", "/status", env, roots, "5"},
		{"a redirect to the same server", "/moved", env, roots, "5"},
		{"a redirect to another server", "/away", env, roots, "another server"},
		{"a redirect to where credentials are", "/metadata", env, roots, "another server"},
		{"redirects without end", "/round", env, roots, "redirected more than"},
		{"another status", "/down", env, roots, "answered 503, and the runbook takes 200 as an answer: no queue here"},
		{"denied", "/denied", env, roots, steps.ErrDenied.Error()},
		{"a bomb", "/bomb", env, roots, "has more than the 4 MiB"},
		{"a certificate of no one known", "/status", env, nil, "certificate"},
		{"no trust in the runbook", "/status", distrust, roots, "not looked at"},
		{"credentials in the address", "", env, roots, "credentials in it"},
	} {
		address := srv.URL + tc.path
		if tc.path == "" {
			address = strings.Replace(srv.URL, "https://", "https://me:secret@", 1)
		}
		obs, _, err := asking(t, tc.env, tc.roots, steps.Params{"url": steps.StringOf(address)})
		got := obs.Facts["depth"].Text()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) || err == nil && (obs.Facts["method"].Text() != "GET" || obs.Facts["status"].Int() != 200) {
			t.Errorf("%s: %s, want %s; %+v", tc.name, got, tc.want, obs.Facts)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the error holds the address: %v", tc.name, err)
		}
	}
	_, _, err := asking(t, env, roots, steps.Params{"url": steps.StringOf(srv.URL + "/slow"), "timeout": steps.DurationOf(200 * time.Millisecond)})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that does not answer: %v", err)
	}
}

// TestHeadersComeFromVariables: the value goes to the server and to no record.
func TestHeadersComeFromVariables(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(status))
	t.Cleanup(srv.Close)
	env := steps.Env{Runbook: "d1", TrustedRunbook: func(string) error { return nil }, Environ: []string{"STATUS_TOKEN=tok-92b1c07f", "BROKEN=a\r\nHost: x"}}
	with := func(list ...string) steps.Params {
		return steps.Params{"url": steps.StringOf(srv.URL + "/status"), "headers": steps.StringsOf(list)}
	}
	obs, sink, err := asking(t, env, nil, with("Authorization: Bearer $STATUS_TOKEN"))
	if err != nil || !strings.Contains(sink.Artifacts["body"].String(), "Bearer tok-92b1c07f") || len(sink.Secrets) != 1 || sink.Secrets[0] != "tok-92b1c07f" {
		t.Errorf("the server got %v, secrets %v, %v", sink.Artifacts, sink.Secrets, err)
	}
	if strings.Contains(obs.Command+obs.Summary, "tok-") || !strings.Contains(obs.Command, `-H "Authorization: Bearer $STATUS_TOKEN"`) {
		t.Errorf("recorded: %q, %q", obs.Command, obs.Summary)
	}
	for header, want := range map[string]string{"X-A: $NOT_SET": "is not set", "X-A: $BROKEN": "which no header takes", "Host: $STATUS_TOKEN": "not one that a runbook may set", "X-HTTP-Method-Override: $STATUS_TOKEN": "not one that a runbook may set"} {
		if _, _, err := asking(t, env, nil, with(header)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "tok-") {
			t.Errorf("%s: %v, want %q", header, err, want)
		}
	}
}

// TestAddresses: what may be asked at all, as an address and as its author writes it.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://status.example.com/v1":               "",
		"https://status.example.com":                  "",
		"https://status.example.com/v1/?q=a%20b":      "",
		"http://127.0.0.1:8080/x":                     "",
		"http://localhost:8080/x":                     "",
		"http://[::1]/x":                              "",
		"http://status.example.com/v1":                "over https alone",
		"http://127.0.0.1.example.com/":               "over https alone",
		"https://a:b@status.example.com/":             "credentials in it",
		"https://169.254.169.254/latest":              "never asks",
		"https://[fd00:ec2::254]/latest":              "never asks",
		"https://0xa9fea9fe/":                         "never asks",
		"https://metadata.google.internal/":           "never asks",
		"http://169.254.169.254/latest":               "over https alone",
		"ftp://status.example.com/":                   "is not https://host/path",
		"file:///etc/passwd":                          "is not https://host/path",
		"https://status.example.com/a/../b":           "dot segment",
		"https://status.example.com/a//b":             "dot segment",
		"https://status.example.com/a#b":              "is not https://host/path",
		"https://status.example.com/a b":              "blank",
		"https:///v1":                                 "is not https://host/path",
		"//status.example.com/":                       "is not https://host/path",
		"https://status.example.com/\u007f":           "cannot be read",
		"https://status.example.com:443@evil.com/%zz": "cannot be read",
	} {
		if _, err := transport.AskAddress(address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	for text, want := range map[string]bool{
		"https://status.example.com/v1/${params.q}": true, "https://status.example.com/${params.q}": true, "https://status.example.com/v1?q=${params.q}": true,
		"https://status.example.com${params.q}": false, "https://${params.host}/v1": false, "${params.url}": false, "https://status.example.com:${params.port}/": false,
		"https://x@${params.host}/": false, "https://status.example.com?q=${params.q}": false, "https://169.254.169.254/${params.q}": false, "http://status.example.com/${params.q}": false,
	} {
		head, _, _ := strings.Cut(text, "${")
		if err := vetURL([]steps.Written{{Text: text, Head: head}}); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
