package gitread

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of a commit is what git shows of it: loose, packed, and as deltas.
func TestFileAsGitShowsIt(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	gitIn(t, top, "init", "-q", "-b", "main")
	var commits []string
	text := ""
	for i := range 40 { // alike enough for git to make deltas of them
		text += fmt.Sprintf("provider \"registry.example/lab/p%02d\" { version = \"%d.0.0\" }\n", i, i)
		putFile(t, filepath.Join(top, "units", "net", "lock.hcl"), text)
		gitIn(t, top, "add", ".")
		gitIn(t, top, "commit", "-q", "-m", "more")
		commits = append(commits, gitIn(t, top, "rev-parse", "HEAD"))
	}
	gitIn(t, top, "tag", "-a", "-m", "a tag", "v1", commits[3])
	gitIn(t, top, "update-ref", "refs/remotes/origin/main", commits[20])
	check := func() {
		t.Helper()
		c, err := Open(filepath.Join(top, "units", "net"))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"": commits[39], "HEAD": commits[39], "main": commits[39], "v1": commits[3], "origin/main": commits[20], commits[7]: commits[7]} {
			if got, err := c.Resolve(t.Context(), name); got != want || err != nil {
				t.Errorf("Resolve(%q) = %q, %v, want %q", name, got, err, want)
			}
		}
		for _, commit := range commits {
			got, err := c.File(t.Context(), commit, "units/net/lock.hcl")
			if want := gitIn(t, top, "show", commit+":units/net/lock.hcl"); err != nil || strings.TrimSpace(string(got)) != want {
				t.Fatalf("File(%s) = %q, %v, want %q", commit, got, err, want)
			}
		}
		if _, err := c.File(t.Context(), commits[0], "units/other"); !errors.Is(err, ErrNoFile) {
			t.Errorf("a file that is not there: %v", err)
		}
		if _, err := c.File(t.Context(), commits[0], "units"); !errors.Is(err, ErrNoFile) {
			t.Errorf("a directory as a file: %v", err)
		}
		for _, name := range []string{"nobody", "../HEAD", "-x", strings.Repeat("0", 40)} {
			if _, err := c.Resolve(t.Context(), name); err == nil {
				t.Errorf("Resolve(%q) finds a commit", name)
			}
		}
	}
	check()
	gitIn(t, top, "gc", "-q", "--aggressive")
	check()
	if loose, _ := filepath.Glob(filepath.Join(top, ".git", "objects", "[0-9a-f][0-9a-f]")); len(loose) > 0 {
		t.Errorf("%d directories of loose objects are left: packs were not all that was read", len(loose))
	}
}

// TestDamagedPack cuts and turns a pack at many places: an error or the truth.
func TestDamagedPack(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	gitIn(t, top, "init", "-q", "-b", "main")
	putFile(t, filepath.Join(top, "a"), strings.Repeat("one\n", 50))
	gitIn(t, top, "add", ".")
	gitIn(t, top, "commit", "-q", "-m", "first")
	gitIn(t, top, "gc", "-q")
	packs, _ := filepath.Glob(filepath.Join(top, ".git", "objects", "pack", "pack-*"))
	c, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range packs {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			bad := append([]byte(nil), whole...)
			bad[i] ^= 0x55
			for _, b := range [][]byte{bad, whole[:i]} {
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if commit, err := c.Resolve(t.Context(), "HEAD"); err == nil {
					_, _ = c.File(t.Context(), commit, "a") // whatever it says, it ends
				}
			}
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("hello world"), []byte{11, 5, 0x90, 5})
	f.Add([]byte("x"), []byte{1, 3, 3, 'a', 'b', 'c'})
	f.Fuzz(func(t *testing.T, from, delta []byte) {
		if out, err := patch(from, delta); err == nil && len(out) > objectSize {
			t.Errorf("%d bytes", len(out))
		}
		_, _ = entryOf(delta, "a")
		_, _ = distance(delta)
	})
}
