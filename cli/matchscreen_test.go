package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMatchFromAPipe: what a failed run says goes through a pipe, the screen shows the runbook that knows it, and the keys
// come from the terminal.
func TestMatchFromAPipe(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := frameCommand(t, home)
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cmd.Path, filepath.Join(bin, "handrail")); err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "/bin/sh", "-c", `printf 'Error: Error acquiring the state lock\n' | handrail match`)
	sh.Dir, sh.Env = home, append(cmd.Env, "LC_ALL=C.UTF-8")
	for i, kv := range sh.Env {
		if len(kv) > 5 && kv[:5] == "PATH=" {
			sh.Env[i] = "PATH=" + bin + ":" + kv[5:]
		}
	}
	s := onScreen(t, sh, 30, 100)
	s.shows(`MATCHING RUNBOOKS`)
	s.shows(`because of +Error: Error acquiring`)
	s.send("\t")
	s.shows(`What do you see\?`)
	s.send("\x1b")
	s.shows(`command centre`)
	s.send("q")
	<-s.ended
}
