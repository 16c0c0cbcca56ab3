package endpoint

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func answers(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet || r.Header.Get("Authorization") != "":
		http.Error(w, "a read without credentials was wanted", http.StatusTeapot)
	case r.URL.Path == "/config":
		fmt.Fprint(w, `{"till":{"express":true,"limit":25.50},"names":["a",null],"version":"7"}`)
	case r.URL.Path == "/twice":
		fmt.Fprint(w, `{"a":{"b":1},"a.b":2}`)
	case r.URL.Path == "/page":
		fmt.Fprint(w, "<html>sign in</html>")
	case r.URL.Path == "/more":
		fmt.Fprint(w, "{} {}")
	case r.URL.Path == "/deep":
		fmt.Fprint(w, strings.Repeat("[", 40)+strings.Repeat("]", 40))
	case r.URL.Path == "/many":
		fmt.Fprint(w, "["+strings.Repeat("1,", 300)+"1]")
	case r.URL.Path == "/away":
		http.Redirect(w, r, "https://elsewhere.example.com/config", http.StatusFound)
	case r.URL.Path == "/metrics":
		fmt.Fprint(w, one)
	case r.URL.Path == "/private":
		http.Error(w, "who are you", http.StatusUnauthorized)
	default:
		http.NotFound(w, r)
	}
}

// TestServed asks a real server, and takes only what is a JSON document.
func TestServed(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(answers))
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	read := func(address string) (steps.Observation, error) {
		return servedProbe{roots: roots}.Probe(t.Context(), steps.Params{"url": steps.StringOf(address)}, stepstest.NewSink())
	}
	obs, err := read(srv.URL + "/config")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"till.express": "true", "till.limit": "25.50", "names.0": "a", "names.1": "null", "version": "7"}
	if diff := cmp.Diff(want, obs.Facts["entries"].Table()); diff != "" || !obs.Facts["asked"].Bool() {
		t.Errorf("%+v\n%s", obs, diff)
	}
	for path, want := range map[string]string{
		"/twice": "the name of two values", "/page": "it is no JSON", "/more": "something follows", "/deep": "levels deep", "/many": "more than 200 values", "/away": "elsewhere.example.com", "/private": "signs in nowhere", "/gone": "answered 404",
	} {
		if obs, err := read(srv.URL + path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", path, obs, err, want)
		}
	}
	for address, want := range map[string]string{"http://shop.example.com/config": "over https alone", "https://ana:word@shop.example.com/": "credentials in it", "https://169.254.169.254/latest": "never asks"} {
		if _, err := read(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if obs, err := read(""); err != nil || obs.Facts["asked"].Bool() || obs.Facts["entries"].Known() {
		t.Errorf("no address: %+v, %v", obs, err)
	}
}

// TestEtcd reads members over HTTP and from a file, and says of one that is silent that it is unread.
func TestEtcd(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(answers))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "etcd.metrics"), []byte(strings.ReplaceAll(one, "is_leader 1", "is_leader 0")), 0o600); err != nil {
		t.Fatal(err)
	}
	probe := etcdProbe{env: steps.Env{Dir: dir}}
	read := func(file string, urls ...string) (steps.Observation, error) {
		return probe.Probe(t.Context(), steps.Params{"urls": steps.StringsOf(urls), "file": steps.PathOf(file)}, stepstest.NewSink())
	}
	obs, err := read("etcd.metrics", srv.URL+"/metrics")
	if err != nil || obs.Facts["members"].Int() != 2 || obs.Facts["now"].Text() != "healthy" || obs.Facts["past"].Text() != "stable" {
		t.Errorf("%+v, %v", obs, err)
	}
	obs, err = read("", srv.URL+"/metrics", srv.URL+"/gone", srv.URL+"/config")
	if err != nil || obs.Facts["now"].Known() || obs.Facts["past"].Known() || len(obs.Facts["unread"].Strings()) != 2 || len(obs.Gaps) != 2 {
		t.Errorf("%+v, %v", obs, err)
	}
	if obs, err = read("", srv.URL+"/gone"); err != nil || obs.Facts["members"].Int() != 0 || obs.Facts["now"].Known() {
		t.Errorf("none: %+v, %v", obs, err)
	}
	if _, err = read("gone.metrics"); err == nil {
		t.Error("a file that is not there is read")
	}
	if _, err = read("."); err == nil {
		t.Error("a directory is read")
	}
	if obs, err = read(""); err != nil || obs.Facts["members"].Known() {
		t.Errorf("nothing named: %+v, %v", obs, err)
	}
	if _, err = read("", strings.Repeat("https://etcd.example ", mostAsked+1)); err == nil {
		t.Error("more members than one step asks")
	}
}
