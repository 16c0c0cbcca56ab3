package terraform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/steps"
)

// local is the backend of plain files.
type local struct {
	env  steps.Env
	path string // state file, absolute
	dir  string // root module, where a run leaves what it could not save
}

func newLocal(env steps.Env, w workdir) *local {
	path := "terraform.tfstate"
	if w.space == "default" {
		if p := w.str("path"); p != "" {
			path = p
		}
	} else {
		root := w.str("workspace_dir")
		if root == "" {
			root = "terraform.tfstate.d"
		}
		path = filepath.Join(root, w.space, path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.dir, path)
	}
	return &local{env: env, path: path, dir: w.dir}
}

// localFiles are the files of a local state: what it is kept in, and what
// describes its lock.
func localFiles(w workdir) (state, info string) {
	l := newLocal(steps.Env{}, w)
	return l.path, l.infoPath()
}

func (l *local) name() string { return "local" }

func (l *local) cluster(context.Context) (string, string, error) { return "", "", nil }

func (l *local) infoPath() string {
	dir, name := filepath.Split(l.path)
	return filepath.Join(dir, "."+strings.TrimPrefix(name, ".")+".lock.info")
}

func (l *local) command(what string) string {
	if what == "lock" {
		return fmt.Sprintf("cat %s; lslocks --output-all | grep %s", steps.Quote(l.infoPath()), steps.Quote(filepath.Base(l.path)))
	}
	if what == "versions" {
		return "ls -lt " + steps.Quote(filepath.Dir(l.path)) + "/*.tfstate*"
	}
	return "cat " + steps.Quote(l.path)
}

// lock asks the kernel who holds the write lock on the state file; the info
// file beside it only describes it, and outlives a holder that was killed.
func (l *local) lock(ctx context.Context) (lockRead, error) {
	if err := ctx.Err(); err != nil {
		return lockRead{}, err
	}
	r := lockRead{where: l.path, at: l.env.Now(), media: steps.MediaJSON}
	raw, err := readSmall(l.infoPath())
	var info *lockInfo
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.infoWhy = "nothing describes the lock: " + l.infoPath() + " is absent"
	case err != nil:
		r.infoWhy = "the description of the lock could not be read: " + err.Error()
	default:
		r.raw = raw
		if info, err = parseLockInfo(raw); err != nil {
			r.infoWhy = "the description of the lock could not be read: " + err.Error()
		}
	}
	f, err := openRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		r.leftover = info
		return r, nil
	}
	if err != nil {
		return lockRead{}, fmt.Errorf("state file: %w; the lock on it could not be read", err)
	}
	defer f.Close()
	r.held, r.pid, err = writeLocked(f)
	if err != nil {
		return lockRead{}, fmt.Errorf("lock on %s: %w", l.path, err)
	}
	if !r.held {
		r.leftover = info
		return r, nil
	}
	if r.info = info; info != nil {
		if i, err := os.Stat(l.infoPath()); err == nil {
			r.wrote.at = i.ModTime()
		}
		r.id = info.ID
	}
	return r, nil
}

func (l *local) state(ctx context.Context) (stateRead, error) {
	if err := ctx.Err(); err != nil {
		return stateRead{}, err
	}
	f, err := openRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return stateRead{where: l.path}, nil
	}
	if err != nil {
		return stateRead{}, fmt.Errorf("state file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return stateRead{}, fmt.Errorf("state file: %w", err)
	}
	return stateRead{exists: true, body: f, written: info.ModTime(), where: l.path}, nil
}
