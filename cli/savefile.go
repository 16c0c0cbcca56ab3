package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/cli/process"
)

// saveNew writes all of from to a new file that only its owner can read. It overwrites nothing, writes into no bundle, and
// takes away what it began where it fails or is given up.
func saveNew(ctx context.Context, p *process.Program, name string, from io.Reader) (path string, err error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && p.Getenv("HOME") != "" {
		name = filepath.Join(p.Getenv("HOME"), rest)
	}
	if path, err = filepath.Abs(name); err != nil {
		return "", fmt.Errorf("saving to %q: %w", name, err)
	}
	bundle, err := bundleAround(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("saving to %q: %w", path, err)
	}
	if bundle != "" {
		return "", fmt.Errorf("%q is inside of the bundle %q, which would no longer be what was recorded; choose another folder", path, bundle)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%q is there already, and nothing is overwritten; choose another name", path)
	}
	if err != nil {
		return "", fmt.Errorf("saving to %q: %w", path, err)
	}
	_, err = io.Copy(f, stoppable{ctx, from})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("saving to %q: %w", path, errors.Join(err, os.Remove(path)))
	}
	return path, nil
}

// stoppable ends reading when its context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}

// bundleAround is the bundle that a folder is, or lies in, whatever links lead there; "" for none.
func bundleAround(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	for {
		_, meta := os.Lstat(filepath.Join(dir, "bundle.json"))
		_, journal := os.Lstat(filepath.Join(dir, "journal"))
		if meta == nil && journal == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}
