package holder

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// TestBlocker is the body of the processes that the tests below start: it lives
// until its standard input ends.
func TestBlocker(t *testing.T) {
	if os.Getenv("HANDRAIL_TEST_BLOCK") == "1" {
		_, _ = os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
}

// block starts a real process that calls itself argv[0] and works in dir.
func block(t *testing.T, dir string, argv ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: append([]string{argv[0], "-test.run=^TestBlocker$", "--"}, argv[1:]...), Dir: dir, Env: []string{"HANDRAIL_TEST_BLOCK=1"}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The kernel shows no arguments for a moment after exec.
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd
}
