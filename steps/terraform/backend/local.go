package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// local is the backend of plain files.
type local struct {
	env  steps.Env
	path string // state file, absolute
	dir  string // root module, where a run leaves what it could not save
}

func newLocal(env steps.Env, w module.Workdir) *local {
	path := "terraform.tfstate"
	if w.Space == "default" {
		if p := w.Setting("path"); p != "" {
			path = p
		}
	} else {
		root := w.Setting("workspace_dir")
		if root == "" {
			root = "terraform.tfstate.d"
		}
		path = filepath.Join(root, w.Space, path)
	}
	path = steps.Below(w.Dir, path)
	return &local{env: env, path: path, dir: w.Dir}
}

// LocalFiles are the files of a local state: what it is kept in, and what
// describes its lock.
func LocalFiles(w module.Workdir) (state, info string) {
	l := newLocal(steps.Env{}, w)
	return l.path, l.infoPath()
}

func (l *local) Name() string { return "local" }

func (l *local) Cluster(context.Context) (string, string, error) { return "", "", nil }

func (l *local) infoPath() string {
	dir, name := filepath.Split(l.path)
	return filepath.Join(dir, "."+strings.TrimPrefix(name, ".")+".lock.info")
}

func (l *local) Command(what string) string {
	if what == "lock" {
		return fmt.Sprintf("cat %s; lslocks --output-all | grep %s", steps.Quote(l.infoPath()), steps.Quote(filepath.Base(l.path)))
	}
	if what == "versions" {
		return "ls -lt " + steps.Quote(filepath.Dir(l.path)) + "/*.tfstate*"
	}
	return "cat " + steps.Quote(l.path)
}

// Lock asks the kernel who holds the write lock on the state file; the info
// file beside it only describes it, and outlives a holder that was killed.
func (l *local) Lock(ctx context.Context) (Lock, error) {
	if err := ctx.Err(); err != nil {
		return Lock{}, err
	}
	r := Lock{Where: l.path, at: l.env.Now(), Media: steps.MediaJSON}
	raw, err := module.ReadSmall(l.infoPath())
	var info *LockInfo
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.InfoWhy = "nothing describes the lock: " + l.infoPath() + " is absent"
	case err != nil:
		r.InfoWhy = "the description of the lock could not be read: " + err.Error()
	default:
		r.Raw = raw
		if info, err = parseLockInfo(raw); err != nil {
			r.InfoWhy = "the description of the lock could not be read: " + err.Error()
		}
	}
	f, err := steps.OpenRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Leftover = info
		return r, nil
	}
	if err != nil {
		return Lock{}, fmt.Errorf("state file: %w; the lock on it could not be read", err)
	}
	defer f.Close()
	r.Held, r.PID, err = module.WriteLocked(f)
	if err != nil {
		return Lock{}, fmt.Errorf("lock on %s: %w", l.path, err)
	}
	if !r.Held {
		r.Leftover = info
		return r, nil
	}
	if r.Info = info; info != nil {
		if i, err := os.Stat(l.infoPath()); err == nil {
			r.wrote.at = i.ModTime()
		}
		r.ID = info.ID
	}
	return r, nil
}

func (l *local) State(ctx context.Context) (State, error) {
	if err := ctx.Err(); err != nil {
		return State{}, err
	}
	f, err := steps.OpenRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Where: l.path}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("state file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return State{}, fmt.Errorf("state file: %w", err)
	}
	return State{Exists: true, Body: f, Written: info.ModTime(), Where: l.path}, nil
}

func (l *local) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockRefused, Refuse: "A local state cannot be unlocked by another process.",
		Cure: "end the process that holds it, or wait: the kernel frees the lock with it; a leftover lock info needs nothing"}
}
