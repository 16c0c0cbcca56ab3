// Command git-server serves the bare repositories of a directory over HTTP, by git's own http-backend, on loopback
// alone. A push needs the account in the file writers of that directory, a read needs one in the file readers of the
// repository where it has one; each line of them is NAME:PASSWORD. They are read anew for each request.
package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "git-server:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "`directory` of the repositories")
	addr := flag.String("addr", "", "`host:port` to listen on")
	flag.Parse()
	host, _, err := net.SplitHostPort(*addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("%s is not loopback", host)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *addr, Handler: repositories{*dir, git}, ReadHeaderTimeout: 10 * time.Second}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type repositories struct{ dir, git string }

// request is the repository and what is asked of it.
var request = regexp.MustCompile(`^/([a-z0-9][a-z0-9-]*\.git)/`)

func (s repositories) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ready" {
		return
	}
	m := request.FindStringSubmatch(r.URL.Path)
	if m == nil {
		http.NotFound(w, r)
		return
	}
	accounts := filepath.Join(s.dir, m[1], "readers")
	push := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"
	if push {
		accounts = filepath.Join(s.dir, "writers")
	}
	user, ok := admitted(accounts, r)
	if !ok && (push || !absent(accounts)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
		http.Error(w, "authentication required", http.StatusUnauthorized)
		return
	}
	env := []string{"GIT_PROJECT_ROOT=" + s.dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + s.dir}
	if push {
		env = append(env, "REMOTE_USER="+user) // without one it takes no push
	}
	(&cgi.Handler{Path: s.git, Args: []string{"http-backend"}, Dir: s.dir, Env: env, Stderr: os.Stderr}).ServeHTTP(w, r)
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func admitted(accounts string, r *http.Request) (user string, ok bool) {
	user, password, given := r.BasicAuth()
	raw, err := os.ReadFile(accounts)
	if !given || err != nil {
		return "", false
	}
	for line := range strings.Lines(string(raw)) {
		if subtle.ConstantTimeCompare([]byte(strings.TrimRight(line, "\n")), []byte(user+":"+password)) == 1 {
			return user, true
		}
	}
	return "", false
}
