package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// git runs git on the forge as an account. The token is in no argument, which others can see, and nothing of this machine's
// settings counts.
func (r *Repo) git(ctx context.Context, by *User, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=" + by.Name, "GIT_AUTHOR_EMAIL=" + by.Name + "@lab.invalid", "GIT_COMMITTER_NAME=" + by.Name, "GIT_COMMITTER_EMAIL=" + by.Name + "@lab.invalid",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(by.Name+":"+by.Token))}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Mirror makes its branch main that of a clone, commit by commit, whatever it held.
func (r *Repo) Mirror(ctx context.Context, by *User, clone string) error {
	return r.git(ctx, by, clone, "push", "-q", "--force", r.URL(), "HEAD:main")
}

// Fetch brings a clone to its branch main.
func (r *Repo) Fetch(ctx context.Context, by *User, clone string) error {
	if err := r.git(ctx, by, clone, "fetch", "-q", r.URL(), "main"); err != nil {
		return err
	}
	return r.git(ctx, by, clone, "reset", "-q", "--hard", "FETCH_HEAD")
}

// Push clones a branch into a folder of its own, commits one file, and pushes it as a person does with git. What Gitea's
// hooks say of a refused push is in the error.
func (r *Repo) Push(ctx context.Context, by *User, dir, branch, name, text string) error {
	clone := filepath.Join(dir, "clone")
	if err := r.git(ctx, by, dir, "clone", "-q", "--branch", branch, r.URL(), clone); err != nil {
		return err
	}
	at := filepath.Join(clone, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "change " + name}, {"push", "-q", "origin", branch}} {
		if err := r.git(ctx, by, clone, args...); err != nil {
			return err
		}
	}
	return nil
}
