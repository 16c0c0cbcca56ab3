package registry

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const (
	right = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	wrong = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// registryOf serves providers as a registry does. answers go over the usual ones, by path:
// a status, or a document.
func registryOf(t *testing.T, answers map[string]string) (name string, roots *x509.CertPool, asked *atomic.Int32) {
	t.Helper()
	usual := map[string]string{
		"/.well-known/terraform.json":                      `{"modules.v1":"/v1/modules/","providers.v1":"/v1/providers/"}`,
		"/v1/providers/lab/net/versions":                   `{"versions":[{"version":"1.2.0","platforms":[{"os":"linux","arch":"amd64"}]},{"version":"1.10.0","platforms":[{"os":"linux","arch":"amd64"},{"os":"plan9","arch":"386"}]},{"version":"none of these"}]}`,
		"/v1/providers/lab/net/1.2.0/download/linux/amd64": fmt.Sprintf(`{"shasum":%q}`, right),
	}
	for path, a := range answers {
		usual[path] = a
	}
	asked = new(atomic.Int32)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		a, ok := usual[r.URL.Path]
		status := 0
		if _, err := fmt.Sscanf(a, "status %d", &status); err == nil {
			w.Header().Set("Location", "https://elsewhere.example.com/")
			w.WriteHeader(status)
			return
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, a)
	}))
	t.Cleanup(srv.Close)
	roots = x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	return strings.TrimPrefix(srv.URL, "https://"), roots, asked
}

func pin(address, version, hashes string) string {
	return fmt.Sprintf("provider %q {\n  version = %q\n  hashes = [%s]\n}\n", address, version, hashes)
}

func probed(t *testing.T, lock string, roots *x509.CertPool, trusted error) (steps.Observation, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, lockFile), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	env := steps.Env{Dir: dir, Trusted: func(string) error { return trusted }}
	return stepstest.Observe(t.Context(), Probe{Env: env, Roots: roots}, Facts(), steps.Params{"dir": steps.PathOf("."), "platform": steps.StringOf("linux_amd64")}, stepstest.NewSink())
}

// TestRegistryAnswers: what a registry says of what is pinned, and what of it is not known.
func TestRegistryAnswers(t *testing.T) {
	t.Parallel()
	const (
		discovery = "/.well-known/terraform.json"
		versions  = "/v1/providers/lab/net/versions"
		download  = "/v1/providers/lab/net/1.2.0/download/linux/amd64"
	)
	for name, tc := range map[string]struct {
		answers map[string]string
		version string
		hashes  string
		want    string // up, present, checksum; ? for unknown
		says    string // somewhere in the tables
	}{
		"as locked":                  {want: "true true match"},
		"another checksum":           {answers: map[string]string{download: fmt.Sprintf(`{"shasum":%q}`, wrong)}, want: "true true mismatch", says: wrong},
		"no checksum":                {answers: map[string]string{download: `{}`}, want: "true ? ?", says: "without a checksum"},
		"locked by another scheme":   {hashes: `"h1:abc="`, want: "true ? ?", says: "no checksum of the kind"},
		"the version is gone":        {version: "1.3.0", want: "true false ?", says: "1.3.0"},
		"not for the platform":       {answers: map[string]string{versions: `{"versions":[{"version":"1.2.0","platforms":[{"os":"plan9","arch":"386"}]}]}`}, want: "true false ?"},
		"the package is gone":        {answers: map[string]string{download: "status 404"}, want: "true false ?"},
		"the provider is gone":       {answers: map[string]string{versions: "status 404"}, want: "true false ?"},
		"it names no platforms":      {answers: map[string]string{versions: `{"versions":[{"version":"1.2.0"}]}`}, want: "true true match"},
		"it wants a credential":      {answers: map[string]string{versions: "status 401"}, want: "true ? ?", says: "wants a credential"},
		"down":                       {answers: map[string]string{discovery: "status 503"}, want: "false ? ?", says: "status 503"},
		"down at the versions":       {answers: map[string]string{versions: "status 502"}, want: "false ? ?", says: "status 502"},
		"down at the package":        {answers: map[string]string{download: "status 500"}, want: "false ? ?", says: "status 500"},
		"a page in its place":        {answers: map[string]string{discovery: `<html>sign in</html>`}, want: "false ? ?", says: "cannot be read"},
		"no registry":                {answers: map[string]string{discovery: "status 404"}, want: "true ? ?", says: "is no registry"},
		"no providers":               {answers: map[string]string{discovery: `{"modules.v1":"/m/"}`}, want: "true ? ?", says: "has no providers"},
		"providers elsewhere":        {answers: map[string]string{discovery: `{"providers.v1":"https://elsewhere.example.com/v1/"}`}, want: "true ? ?", says: "another server"},
		"over a connection in clear": {answers: map[string]string{discovery: `{"providers.v1":"http:/v1/providers/"}`}, want: "true ? ?", says: "another server"},
		"sent elsewhere":             {answers: map[string]string{discovery: "status 302"}, want: "false ? ?", says: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, roots, _ := registryOf(t, tc.answers)
			if tc.version == "" {
				tc.version = "1.2.0"
			}
			if tc.hashes == "" {
				tc.hashes = `"h1:abc=", "zh:` + right + `"`
			}
			obs, err := probed(t, pin(host+"/lab/net", tc.version, tc.hashes)+pin("terraform.io/builtin/terraform", "1.0.0", ""), roots, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := func(v steps.Value) string {
				if !v.Known() {
					return "?"
				}
				return v.Text()
			}
			bools := func(v steps.Value) string {
				if !v.Known() {
					return "?"
				}
				return fmt.Sprint(v.Bool())
			}
			f := obs.Facts
			if got := bools(f["up"]) + " " + bools(f["present"]) + " " + said(f["checksum"]); got != tc.want {
				t.Errorf("up, present, checksum = %s, want %s (%v)", got, tc.want, obs.Gaps)
			}
			tables := fmt.Sprint(f["hosts"].Table(), f["missing"].Table(), f["mismatched"].Table(), f["unread"].Table())
			if !strings.Contains(tables, tc.says) {
				t.Errorf("tables = %s, want %q", tables, tc.says)
			}
			if v := f["offered"].Table()[host+"/lab/net"]; tc.want == "true true match" && tc.answers == nil && v != "1.10.0" {
				t.Errorf("newest = %q", v)
			}
		})
	}
}

// TestRegistryIsAskedWhereTrusted: no server that a directory names is asked before it is
// trusted, and never one at which a machine gets credentials.
func TestRegistryIsAskedWhereTrusted(t *testing.T) {
	t.Parallel()
	host, roots, asked := registryOf(t, nil)
	if _, err := probed(t, pin(host+"/lab/net", "1.2.0", ""), roots, fmt.Errorf("not now")); err == nil || !strings.Contains(err.Error(), "not now") || asked.Load() != 0 {
		t.Errorf("error = %v, asked %d times", err, asked.Load())
	}
	for _, address := range []string{"169.254.169.254/lab/net", "metadata/lab/net", "a@b/lab/net", host + "/lab", host + "/lab/../net", host + "/lab/net/x"} {
		obs, err := probed(t, pin(address, "1.2.0", ""), roots, nil)
		if err != nil || obs.Facts["unread"].Table()[address] == "" || obs.Facts["present"].Known() {
			t.Errorf("%s: %v, %v", address, obs.Facts["unread"], err)
		}
	}
	if n := asked.Load(); n > 3 { // the discovery of one host
		t.Errorf("asked %d times", n)
	}
	if obs, err := probed(t, pin(host+"/lab/net", "1.2.0", ""), nil, nil); err != nil || obs.Facts["up"].Bool() || !strings.Contains(fmt.Sprint(obs.Facts["hosts"].Table()), "certificate") {
		t.Errorf("a certificate of nowhere: %v, %v", obs.Facts, err)
	}
}
