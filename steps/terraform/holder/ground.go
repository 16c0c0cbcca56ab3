package holder

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// ground is where the runs of one state work, and what the processes of this
// machine are held against.
type ground struct {
	env  steps.Env
	t    procTable
	w    module.Workdir
	s    Suspect
	key  stateKey            // zero where the backend cannot be read
	tree string              // what a provisioner may work in beside the directory: the work tree around it
	keys map[string]stateKey // states of directories, read once

	pipes   map[string]bool // that are read; nil until they are asked for
	pipesOK bool            // whether every reader would have been seen
	mine    map[int]bool    // handrail, and what started it
}

func newGround(env steps.Env, t procTable, w module.Workdir, s Suspect) *ground {
	g := &ground{env: env, t: t, w: w, s: s, keys: map[string]stateKey{}, mine: map[int]bool{}}
	g.key = keyOf(w)
	g.w.Dir, g.w.Data = resolved(w.Dir), resolved(w.Data)
	g.tree = workTree(env, g.w.Dir)
	for pid := os.Getpid(); pid > 0 && !g.mine[pid]; pid = t.all[pid].ppid {
		g.mine[pid] = true
	}
	return g
}

func resolved(dir string) string {
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		return to
	}
	return dir
}

// workTree is the repository around a directory, else the folder above it where
// that is not one that all share.
func workTree(env steps.Env, dir string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	above := filepath.Dir(dir)
	if above == "/" || filepath.Dir(above) == "/" || above == resolved(os.TempDir()) || env.Home != "" && above == resolved(env.Home) {
		return dir
	}
	return above
}

// below reports whether a path is dir or in it. What was removed since counts
// as where it was.
func below(path, dir string) bool {
	path = strings.TrimSuffix(path, " (deleted)")
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// shares reports whether a path is the directory of the state, in it, or in a
// root module that uses the same state. One below it that has a state of its own
// is another's.
func (g *ground) shares(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	if key := g.stateAt(path); key.known() && g.key.known() {
		return key.same(g.key)
	}
	return below(path, g.w.Dir)
}

// works reports whether a process works on the ground; by file identity too, for
// links and bind mounts.
func (g *ground) works(p Process) bool {
	if p.cwd == "" {
		return false
	}
	if a, err := os.Stat(filepath.Join(g.t.root, strconv.Itoa(p.PID), "cwd")); err == nil {
		if b, err := os.Stat(g.w.Dir); err == nil && os.SameFile(a, b) {
			return true
		}
	}
	return g.shares(p.workIn())
}

// another reports whether a process is tied to the run of another state: by where
// it or one of its process group works, or was started.
func (g *ground) another(p Process, env signs) bool {
	paths := []string{p.cwd, env.pwd, env.old}
	for _, q := range g.t.all {
		if q.group == p.group && q.cwd != "" {
			paths = append(paths, q.cwd)
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		key := g.stateAt(path)
		return key.known() && g.key.known() && !key.same(g.key)
	})
}

// stateAt names the state of the root module that a path is in, zero where there
// is none or it cannot be read.
func (g *ground) stateAt(path string) stateKey {
	for at := strings.TrimSuffix(path, " (deleted)"); filepath.IsAbs(at); at = filepath.Dir(at) {
		if at == g.w.Dir {
			return g.key
		}
		key, ok := g.keys[at]
		if !ok {
			key, _ = readBackendKey(g.env, at, "")
			g.keys[at] = key
		}
		if key.known() || at == filepath.Dir(at) {
			return key
		}
	}
	return stateKey{}
}
