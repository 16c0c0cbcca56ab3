//go:build unix

package steps

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeIsNotWaitedFor: a pipe in the place of a file is refused at once.
func TestPipeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := ReadFile(name, 10); err == nil {
		t.Errorf("read %q", raw)
	}
}
