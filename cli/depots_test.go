package cli

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/bcrypt"

	"handrail/cli/bundle"
	"handrail/drills/lab"
)

// serveFar starts a server that keeps bundles: serve s3|registry. The script is
// told where it is and who it may be by the variables that the AWS tools and
// docker have for that, and by $SERVER and $SERVER_DIR.
func serveFar(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve s3|registry")
	}
	dir := filepath.Join(ts.Getenv("WORK"), "server-"+args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	const password = "the-passphrase-of-the-lab"
	if args[0] == "registry" {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, "htpasswd"), []byte("lab:"+string(hash)+"\n"), 0o600))
	}
	s, err := lab.StartService(context.Background(), lab.Options{}, args[0], dir)
	ts.Check(err)
	ts.Defer(func() { ts.Check(s.Close()) })
	ts.Setenv("SERVER", s.Addr)
	ts.Setenv("SERVER_DIR", dir)
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		ts.Setenv(name, value)
	}
	if args[0] == "registry" {
		auth := base64.StdEncoding.EncodeToString([]byte("lab:" + password))
		ts.Check(os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"auths":{"`+s.Addr+`":{"auth":"`+auth+`"}}}`), 0o600))
		ts.Setenv("DOCKER_CONFIG", dir)
	}
}

// cutFile takes the second half of a file away: cut FILE
func cutFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cut FILE")
	}
	info, err := os.Stat(args[0])
	ts.Check(err)
	ts.Check(os.Truncate(args[0], info.Size()/2))
}

// A large bundle says how far it is, a small one is there before it could.
func TestTransferTells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		total int64
		want  int
	}{{1 << 20, 0}, {100 << 20, 11}} {
		var out strings.Builder
		show := &bundle.Transfer{W: &out, What: "sending", Tenth: -1}
		for done := int64(0); done <= c.total; done += c.total / 64 {
			show.Tell(done, c.total)
		}
		show.End()
		if got := strings.Count(out.String(), "\n"); got != c.want {
			t.Errorf("%d bytes: %d lines, want %d:\n%s", c.total, got, c.want, out.String())
		}
	}
}
