package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoNode says that a server that is written for Node cannot be had here.
var ErrNoNode = errors.New("node and npm are not in PATH: this server of the tests is a Node program, install Node 20 or newer")

// npmProgram installs what the package.json in src names, exactly as its lock
// file says, and writes a launcher at path. No script of a package runs.
func npmProgram(ctx context.Context, part Part, src, path string) error {
	node, err := exec.LookPath("node")
	if err != nil {
		return ErrNoNode
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return ErrNoNode
	}
	home := filepath.Join(filepath.Dir(path), "npm")
	if err := errors.Join(os.RemoveAll(home), os.MkdirAll(home, 0o700)); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, name), raw, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = home
	ownGroup(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, strings.TrimSpace(string(out)))
	}
	launcher := fmt.Sprintf("#!/bin/sh\nexec %q %q \"$@\"\n", node, filepath.Join(home, "node_modules", filepath.FromSlash(part.target)))
	return os.WriteFile(path, []byte(launcher), 0o700)
}
