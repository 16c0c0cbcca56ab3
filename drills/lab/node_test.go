package lab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed is a package of npm as a registry has it.
func packed(t *testing.T, files ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range files {
		body := []byte("body of " + h.Name)
		if h.Typeflag = max(h.Typeflag, tar.TypeReg); h.Typeflag == tar.TypeReg {
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPackageOfNpmIsWhatWasPinned: what has another digest leaves nothing behind, and no
// file lands beside the folder.
func TestPackageOfNpmIsWhatWasPinned(t *testing.T) {
	t.Parallel()
	archive := packed(t, tar.Header{Name: "package/bin/node", Mode: 0o755}, tar.Header{Name: "package/README", Mode: 0o644},
		tar.Header{Name: "package/../../outside", Mode: 0o644}, tar.Header{Name: "package/link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/node-x/-/node-x-1.2.3.tgz" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(server.Close)
	sum := sha512.Sum512(archive)
	good := npmPackage{"node-x", "1.2.3", base64.StdEncoding.EncodeToString(sum[:])}
	root := t.TempDir()
	if err := good.unpack(context.Background(), server.URL, filepath.Join(root, "in", "node")); err == nil {
		t.Error("it unpacks beside a folder that is not there")
	}
	dir := filepath.Join(root, "node")
	if err := good.unpack(t.Context(), server.URL, dir); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "bin", "node")); err != nil || string(got) != "body of package/bin/node" || !isProgram(filepath.Join(dir, "bin", "node")) {
		t.Errorf("bin/node = %q, %v", got, err)
	}
	if isProgram(filepath.Join(dir, "README")) {
		t.Error("README is a program")
	}
	for _, name := range []string{"outside", "node/link", "node/outside"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
	for want, bad := range map[string]npmPackage{"is not what was pinned": {good.name, good.version, good.sum[1:] + "A"}, "404": {good.name, "1.2.4", good.sum}} {
		at := filepath.Join(root, "bad")
		if err := bad.unpack(t.Context(), server.URL, at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", bad, err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 1 {
			t.Errorf("it leaves %v", left)
		}
	}
}

// TestRegistryIsThatOfNpm: its variable goes over its file, and no other is asked.
func TestRegistryIsThatOfNpm(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("fund=false\nregistry = https://mirror.example/npm/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string]map[string]string{
		"https://variable.example":   {"HOME": home, "npm_config_registry": "https://variable.example/"},
		"https://mirror.example/npm": {"HOME": home},
		"":                           {"HOME": t.TempDir()},
	} {
		if got := npmRegistry(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: %s, want %s", env, got, want)
		}
	}
}

// TestDefaultRegistry: where npm says it, in older and newer ones, and nothing else is taken.
func TestDefaultRegistry(t *testing.T) {
	t.Parallel()
	const says = "define('cidr', {\n  default: null,\n})\ndefine('registry', {\n  default: 'https://registry.example/',\n  type: url,\n})\n"
	for name, want := range map[string]string{
		"npm/lib/utils/config":           "https://registry.example",
		"@npmcli/config/lib/definitions": "https://registry.example",
		"npm/lib":                        "",
	} {
		dir := t.TempDir()
		at := filepath.Join(dir, "usr/share/nodejs", name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "definitions.js"), []byte(says), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := defaultIn(dir); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestNodeTrustsTheMachine: its roots, unless others were named.
func TestNodeTrustsTheMachine(t *testing.T) {
	t.Parallel()
	roots := filepath.Join(t.TempDir(), "roots.crt")
	if got := trusting([]string{"A=b"}, roots); len(got) != 1 {
		t.Errorf("roots that are not there: %q", got)
	}
	if err := os.WriteFile(roots, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := trusting([]string{"A=b"}, roots); len(got) != 2 || got[1] != "NODE_EXTRA_CA_CERTS="+roots {
		t.Errorf("none named: %q", got)
	}
	if got := trusting([]string{"NODE_EXTRA_CA_CERTS=/own"}, roots); len(got) != 1 {
		t.Errorf("others named: %q", got)
	}
}
