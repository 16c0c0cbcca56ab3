//go:build unix

package gitops

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills/lab"
)

// TestGit: a push needs the account of the server, a read needs one where the repository says so.
func TestGit(t *testing.T) {
	t.Parallel()
	g, err := StartGit(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	r, err := g.Repository(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.Commit(t.Context(), "First", files("a/one", "1", "gone", "x"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Commit(t.Context(), "Second", files("a/one", "2"))
	if err != nil || second == first {
		t.Fatalf("second commit %s after %s: %v", second, first, err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := git("clone", "-q", r.URL, clone); err != nil {
		t.Fatal(out)
	}
	if out, err := git("-C", clone, "ls-tree", "-r", "--name-only", second); err != nil || out != "a/one\n" {
		t.Errorf("the second commit holds %q, %v", out, err)
	}
	if out, err := git("-C", clone, "push", "-q", "origin", "HEAD:other"); err == nil || !strings.Contains(out, "could not read Username") {
		t.Errorf("a push without an account: %v %s", err, out)
	}
	if err := r.Readers("reader:word"); err != nil {
		t.Fatal(err)
	}
	for auth, want := range map[[2]string]int{{}: http.StatusUnauthorized, {"reader", "other"}: http.StatusUnauthorized, {"reader", "word"}: http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+"/info/refs?service=git-upload-pack", nil)
		if err != nil {
			t.Fatal(err)
		}
		if auth[0] != "" {
			req.SetBasicAuth(auth[0], auth[1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%v is answered %s, want %d", auth, res.Status, want)
		}
	}
	if err := r.Readers(); err != nil {
		t.Fatal(err)
	}
	if out, err := git("ls-remote", r.URL); err != nil || !strings.Contains(out, second) {
		t.Errorf("open again it says %q, %v", out, err)
	}
	for _, path := range []string{"/", "/shop.git", "/shop/config", "/shop.git/../writers", "/shop.git/readers", "/shop.git/%2e%2e/writers"} {
		res, err := http.Get(g.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("%s is answered %s", path, res.Status)
		}
	}
}
