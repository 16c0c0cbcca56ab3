package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"handrail/cli/bundle"
	"handrail/drills/lab"
	"handrail/evidence/sig"
)

// TestRealAuthority has a real time stamping authority asked and believed.
func TestRealAuthority(t *testing.T) {
	t.Parallel()
	s, err := lab.StartService(t.Context(), lab.Options{}, "tsa", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	at := s.URL + "/api/v1/timestamp"
	chain := get(t, at+"/certchain")
	root := chain[bytes.LastIndex(chain, []byte("-----BEGIN")):]
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, root, 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "tsa"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("TSA_URL", at)
			e.Setenv("TSA_CA", ca)
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "bundle": bundlePath, "carry": carry, "opensslverify": opensslVerify,
		},
	})
}

func get(t *testing.T, at string) []byte {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// carry takes a query to the authority, and its reply back: carry QUERY REPLY
func carry(ts *testscript.TestScript, neg bool, args []string) {
	resp, err := http.Post(ts.Getenv("TSA_URL"), "application/timestamp-query", strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), raw, 0o600))
}

// opensslVerify has openssl judge a time stamp, where there is one: opensslverify CHECKPOINT STAMP
func opensslVerify(ts *testscript.TestScript, neg bool, args []string) {
	if _, err := exec.LookPath("openssl"); err != nil {
		ts.Logf("no openssl here to compare with")
		return
	}
	ts.Check(ts.Exec("openssl", "ts", "-verify", "-data", args[0], "-in", args[1], "-CAfile", ts.Getenv("TSA_CA")))
}

func TestAuthorityThatMisbehaves(t *testing.T) {
	t.Parallel()
	kind := "application/timestamp-reply"
	for _, tc := range []struct {
		name  string
		serve http.HandlerFunc
		wrong string
	}{
		{"good", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.Copy(w, r.Body)
		}, ""},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}, "sends elsewhere"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "no time stamp"},
		{"closed", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, "403"},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(make([]byte, sig.MaxTimeStamp+1))
		}, "over 65536 bytes"},
		{"cut", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		}, "unexpected EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(tc.serve)
			defer srv.Close()
			to, err := url.Parse(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := bundle.AskAuthority(t.Context(), to, []byte("query"))
			if tc.wrong == "" && (err != nil || string(raw) != "query") || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("%q, %v; want %q", raw, err, tc.wrong)
			}
		})
	}
}

func TestStampURL(t *testing.T) {
	t.Parallel()
	for raw, ok := range map[string]bool{
		"https://tsa.example/x": true, "http://127.0.0.1:3000/": true, "http://[::1]:3000/": true, "http://localhost/": true,
		"http://tsa.example/": false, "http://127.0.0.1.example/": false, "ftp://127.0.0.1/": false, "https://": false, "tsa.example": false, "http://192.0.2.1/": false, "://": false,
	} {
		if _, err := bundle.StampURL(raw); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := bundle.StampURL("http://me:hunter2@tsa.example/"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}
