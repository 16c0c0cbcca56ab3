package gitread

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func putFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is read from the files of a clone is what git says of it.
func TestCloneAsGitSeesIt(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	gitIn(t, top, "init", "-q", "-b", "main")
	if _, _, err := (Clone{top: top, dir: filepath.Join(top, ".git"), common: filepath.Join(top, ".git")}).Head(); err == nil {
		t.Error("a clone without a commit has one")
	}
	putFile(t, filepath.Join(top, "main.tf"), "# one\n")
	putFile(t, filepath.Join(top, "modules", "net", "main.tf"), "# two\n")
	gitIn(t, top, "add", ".")
	gitIn(t, top, "commit", "-q", "-m", "first")
	check := func(dir, branch string, dirty int) {
		t.Helper()
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		commit, b, err := c.Head()
		if want := gitIn(t, dir, "rev-parse", "HEAD"); err != nil || commit != want || b != branch {
			t.Errorf("head = %q on %q, %v; git says %q on %q", commit, b, err, want, branch)
		}
		if n, all, err := c.Changed(context.Background()); n != dirty || all != 2 || err != nil {
			t.Errorf("%d of %d files changed, %v; want %d of 2", n, all, err, dirty)
		}
	}
	check(filepath.Join(top, "modules", "net"), "main", 0)
	gitIn(t, top, "pack-refs", "--all")
	check(top, "main", 0)
	putFile(t, filepath.Join(top, "main.tf"), "# ONE\n") // as long as before
	check(top, "main", 1)
	gitIn(t, top, "checkout", "-q", "--detach", "--force", "HEAD")
	check(top, "", 0)
	// Written in place with the time of the file that it replaces: only its inode tells.
	old, err := os.Stat(filepath.Join(top, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(top, "main.tf"), "# oNe\n")
	if err := os.Chtimes(filepath.Join(top, "main.tf"), old.ModTime(), old.ModTime()); err != nil {
		t.Fatal(err)
	}
	check(top, "", 1)
	gitIn(t, top, "checkout", "-q", "--force", "HEAD")
	check(top, "", 0)
	gitIn(t, top, "worktree", "add", "-q", "-b", "side", "wt")
	check(filepath.Join(top, "wt"), "side", 0)
}

// The clone of a stranger leads nowhere and makes nothing run.
func TestCloneOfAStranger(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"ref outside":     {".git/HEAD": "ref: refs/heads/../../../../etc/passwd\n"},
		"no ref":          {".git/HEAD": "ref: /etc/passwd\n"},
		"no commit":       {".git/HEAD": "0123\n"},
		"file of nothing": {".git": "nothing\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			for f, text := range files {
				putFile(t, filepath.Join(top, f), text)
			}
			c, err := Open(top)
			if err == nil {
				_, _, err = c.Head()
			}
			if err == nil {
				t.Error("it has a commit")
			}
		})
	}
	top := t.TempDir()
	putFile(t, filepath.Join(top, ".git", "index"), "DIRC\x00\x00\x00\x02\xff\xff\xff\xff")
	c, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.index(); err == nil {
		t.Error("an index with 4 billion entries was read")
	}
	putFile(t, filepath.Join(top, ".git", "index"), "DIRC\x00\x00\x00\x02\x00\x00\x00\x01short")
	if _, _, err := c.index(); err == nil {
		t.Error("an index that breaks off was read")
	}
}
