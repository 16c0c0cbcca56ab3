package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestFirstFrameWaitsForNoNetwork opens handrail against a cluster that accepts
// every connection and never answers one. The picture must come all the same:
// a call must not look at an empty terminal while a VPN is down.
func TestFirstFrameWaitsForNoNetwork(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args  []string
		shows string
	}{
		"command centre": {nil, "command centre"},
		"incident":       {[]string{"start", "state-lock", "-p", "dir=."}, "READ-ONLY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			silent(t, home)
			c := frameCommand(t, home)
			c.Args = append(c.Args, tc.args...)
			awaitFrame(t, c, tc.shows)
		})
	}
}

// BenchmarkProcess is a process from its start to its end, or to its first
// frame, beside programs that everybody knows.
func BenchmarkProcess(b *testing.B) {
	home := b.TempDir()
	silent(b, home)
	b.Run("peer=true", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, args := range map[string][]string{"kubectl": {"version", "--client"}, "tofu": {"version"}, "k9s": {"version"}} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // a peer that is not there cannot be compared with
		}
		b.Run("peer="+name, func(b *testing.B) {
			for b.Loop() {
				if err := exec.CommandContext(b.Context(), path, args...).Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("handrail-version", func(b *testing.B) {
		for b.Loop() {
			c := frameCommand(b, home)
			c.Args = append(c.Args, "version")
			if err := c.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("handrail-first-frame", func(b *testing.B) {
		for b.Loop() {
			awaitFrame(b, frameCommand(b, home), "command centre")
		}
	})
}

// silent is a server that never answers, and the kubeconfig of home that names
// it.
func silent(tb testing.TB, home string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var held []net.Conn
		defer func() {
			for _, c := range held {
				_ = c.Close()
			}
		}()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	}()
	tb.Cleanup(func() { _ = l.Close(); <-ended })
	config := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: silent
clusters: [{name: silent, cluster: {server: "http://%s"}}]
users: [{name: nobody, user: {token: none}}]
contexts: [{name: silent, context: {cluster: silent, user: nobody}}]
`, l.Addr())
	if err := os.WriteFile(filepath.Join(home, "kubeconfig"), []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// frameCommand is this test binary, started as handrail in a home of its own.
func frameCommand(tb testing.TB, home string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	// HANDRAIL_BIN measures a built program instead, without the tests in it.
	if built := os.Getenv("HANDRAIL_BIN"); built != "" {
		self = built
	}
	c := exec.CommandContext(tb.Context(), self)
	c.Args[0] = "handrail" // by which a test binary knows what to be
	c.Dir = home
	c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "KUBECONFIG=" + filepath.Join(home, "kubeconfig")}
	return c
}

// awaitFrame starts a program in a terminal, waits until it has drawn what it
// shows, and ends the program.
func awaitFrame(tb testing.TB, c *exec.Cmd, shows string) {
	tb.Helper()
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
		_ = f.Close()
	}()
	var seen strings.Builder
	buf := make([]byte, 16<<10)
	for !strings.Contains(seen.String(), shows) {
		n, err := f.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			tb.Fatalf("handrail ended before its first frame: %v\n%q", err, seen.String())
		}
	}
}
