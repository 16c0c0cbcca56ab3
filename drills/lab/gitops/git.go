package gitops

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/drills/lab"
)

// Git is a server of Git repositories over HTTP.
type Git struct {
	server *lab.Server // nil where another one began it
	url    string
	dir    string
	writer string // NAME:PASSWORD
}

// GitAt is a server that runs at url with its repositories in dir, for a drill that goes on without the process that
// began it.
func GitAt(url, dir string) (*Git, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "writers"))
	if err != nil {
		return nil, fmt.Errorf("the Git server at %s: %w", url, err)
	}
	return &Git{url: url, dir: dir, writer: strings.TrimSpace(string(raw))}, nil
}

// StartGit starts a server on loopback with its repositories in dir.
func StartGit(ctx context.Context, o lab.Options, dir string) (*Git, error) {
	s, err := lab.StartService(ctx, o, "git", dir)
	if err != nil {
		return nil, err
	}
	g := &Git{server: s, url: s.URL, dir: s.Dir}
	for _, line := range s.Env {
		if word, ok := strings.CutPrefix(line, "GIT_WRITER="); ok {
			g.writer = word
		}
	}
	return g, nil
}

// Close ends the server.
func (g *Git) Close() error { return g.server.Close() }

// Repository is one of them, with a clone of its own to commit in.
type Repository struct {
	URL string

	git         *Git
	bare, clone string
}

var repositoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Open is a repository that was made before.
func (g *Git) Open(name string) *Repository {
	return &Repository{URL: g.url + "/" + name + ".git", git: g, bare: filepath.Join(g.dir, name+".git"), clone: filepath.Join(g.dir, name)}
}

// Repository makes an empty repository that all may read.
func (g *Git) Repository(ctx context.Context, name string) (*Repository, error) {
	if !repositoryName.MatchString(name) {
		return nil, fmt.Errorf("repository %q: want lower-case letters, digits and hyphens", name)
	}
	r := g.Open(name)
	for _, args := range [][]string{
		{"init", "-q", "--bare", "-b", "main", r.bare},
		{"init", "-q", "-b", "main", r.clone},
	} {
		if _, err := r.run(ctx, g.dir, args...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Clone is the directory of a clone that has every commit.
func (r *Repository) Clone() string { return r.clone }

// Commit replaces what the branch main holds by the tree, pushes it and returns the new commit, which is one even where
// nothing changed.
func (r *Repository) Commit(ctx context.Context, message string, tree fs.FS) (sha string, err error) {
	old, err := os.ReadDir(r.clone)
	if err != nil {
		return "", err
	}
	for _, e := range old {
		if e.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(r.clone, e.Name())); err != nil {
				return "", err
			}
		}
	}
	if err := os.CopyFS(r.clone, tree); err != nil {
		return "", err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", message}} {
		if _, err := r.run(ctx, r.clone, args...); err != nil {
			return "", err
		}
	}
	return r.Push(ctx)
}

// Push brings the branch main to what the clone has, and returns the commit.
func (r *Repository) Push(ctx context.Context) (sha string, err error) {
	if _, err := r.run(ctx, r.clone, "push", "-q", r.URL, "main"); err != nil {
		return "", err
	}
	out, err := r.run(ctx, r.clone, "rev-parse", "HEAD")
	return strings.TrimSpace(out), err
}

// Readers says who may read from now on, each as NAME:PASSWORD; all where there is none.
func (r *Repository) Readers(accounts ...string) error {
	path := filepath.Join(r.bare, "readers")
	if len(accounts) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path, []byte(strings.Join(accounts, "\n")+"\n"), 0o600)
}

// run runs git without the settings of this machine. The account that pushes is in no argument, which others can see.
func (r *Repository) run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=platform", "GIT_AUTHOR_EMAIL=platform@example.com", "GIT_COMMITTER_NAME=platform", "GIT_COMMITTER_EMAIL=platform@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader",
		"GIT_CONFIG_VALUE_0=Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(r.git.writer))}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
