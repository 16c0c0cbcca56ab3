package terraform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
)

// ground is where the runs of one state work, and what the processes of this
// machine are held against.
type ground struct {
	env  steps.Env
	t    procTable
	w    workdir
	s    suspect
	key  stateKey            // zero where the backend cannot be read
	tree string              // what a provisioner may work in beside the directory: the work tree around it
	keys map[string]stateKey // states of directories, read once

	pipes   map[string]bool // that are read; nil until they are asked for
	pipesOK bool            // whether every reader would have been seen
	mine    map[int]bool    // handrail, and what started it
}

func newGround(env steps.Env, t procTable, w workdir, s suspect) *ground {
	g := &ground{env: env, t: t, w: w, s: s, keys: map[string]stateKey{}, mine: map[int]bool{}}
	g.key, _ = keyOf(env, w)
	g.w.dir, g.w.data = resolved(w.dir), resolved(w.data)
	g.tree = workTree(env, g.w.dir)
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

// stateAt names the state of the root module that a path is in, zero where there
// is none or it cannot be read.
func (g *ground) stateAt(path string) stateKey {
	for at := strings.TrimSuffix(path, " (deleted)"); filepath.IsAbs(at); at = filepath.Dir(at) {
		if at == g.w.dir {
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
	return below(path, g.w.dir)
}

// another reports whether a process is tied to the run of another state: by where
// it or one of its process group works, or was started.
func (g *ground) another(p process, env signs) bool {
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

// works reports whether a process works on the ground; by file identity too, for
// links and bind mounts.
func (g *ground) works(p process) bool {
	if p.cwd == "" {
		return false
	}
	if a, err := os.Stat(filepath.Join(g.t.root, strconv.Itoa(p.pid), "cwd")); err == nil {
		if b, err := os.Stat(g.w.dir); err == nil && os.SameFile(a, b) {
			return true
		}
	}
	return g.shares(p.workIn())
}

// belief is how sure it is that a process is a part of a run of the state.
type belief int

const (
	stranger belief = iota
	sits            // it is there, and nothing says that a run started it
	doubtful        // a run started it, and of which state cannot be told
	belongs
)

// judge weighs what ties a process without a living tofu to the ground against
// what an editor, a shell or a service has as well.
func (g *ground) judge(p process) (belief, string) {
	lost, surely := g.detached(p)
	if !lost {
		return stranger, ""
	}
	if p.cwd == "" {
		return g.unreadable(p)
	}
	env, _ := g.t.signsOf(p)
	there, named, near := g.ties(p, env)
	if near != "" && g.another(p, env) {
		near = "" // beside the directory are the runs of other states too
	}
	if there+named+near == "" && !env.tool && env.tofus() == "" {
		return stranger, ""
	}
	born, times := g.marks(p, env)
	why := func(tie string) string {
		all := []string{tie}
		if surely {
			all = append(all, "what started it is gone")
		}
		for _, more := range []string{born, times} {
			if more != "" {
				all = append(all, more)
			}
		}
		return strings.Join(all, ", ")
	}
	switch {
	case there != "" && (born != "" || !sitter(p) && (surely || times != "")):
		return belongs, why(there)
	case there != "":
		return sits, why(there)
	case named != "" && (born != "" || times != "" && !sitter(p)):
		return belongs, why(named)
	case near != "" && born != "" && (times != "" || env.tool || env.tofus() != ""):
		return belongs, why(near)
	case (named != "" || near != "" && born != "") && !sitter(p):
		return sits, why(named + near)
	case times != "" && (env.tool || env.cookie || env.tofus() != "" && born != "") && !g.another(p, env):
		return doubtful, fmt.Sprintf("process %d was left behind by a tofu that is gone, and of which state cannot be told (%s, in %q)", p.pid, shortArgs(p), p.cwd)
	}
	return stranger, ""
}

// unreadable judges the process of another user by what all can see of it.
func (g *ground) unreadable(p process) (belief, string) {
	if errors.Is(p.cwdErr, fs.ErrNotExist) || !g.inWindow(p) || g.lostLeader(p) == "" {
		return stranger, ""
	}
	return doubtful, fmt.Sprintf("process %d of user id %s began while the lock was held, lost what started it, and cannot be looked into (%s): look as that user or as root", p.pid, p.uid, shortArgs(p))
}

// ties are what binds a process to the ground: what it has there now, what it was
// given there, and what it has beside it.
func (g *ground) ties(p process, env signs) (there, named, near string) {
	switch {
	case g.works(p):
		there = "it works in " + p.workIn()
	case env.data != "" && resolved(absolute(env.data, p.cwd)) == g.w.data:
		there = "its " + dataVariable + " is that of the directory"
	case len(p.argv) > 0 && below(absolute(p.argv[0], p.cwd), g.w.data):
		there = "it is a program in " + g.w.data
	default:
		there = g.holds(p)
	}
	paths := []string{env.pwd, env.old}
	for _, a := range p.argv {
		if filepath.IsAbs(a) {
			paths = append(paths, a)
		}
	}
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		what := "it was started in "
		if i > 1 {
			what = "its arguments name "
		}
		if named == "" && g.shares(path) {
			named = what + path
		}
		if near == "" && below(path, g.tree) {
			near = what + path
		}
	}
	if below(p.cwd, g.tree) {
		near = "it works in " + p.cwd + ", beside the directory"
	}
	return there, named, near
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// holds says which file of the run a process can write, "" for none.
func (g *ground) holds(p process) string {
	files, _ := g.t.openFiles(p)
	for _, f := range files {
		if f.write && filepath.IsAbs(f.name) && (below(f.name, g.w.data) || slices.Contains(g.stateFiles(), strings.TrimSuffix(f.name, " (deleted)"))) {
			return "it has " + f.name + " open for writing"
		}
	}
	return ""
}

// stateFiles are those that a local state and its lock are kept in.
func (g *ground) stateFiles() []string {
	if g.w.backend != "local" {
		return nil
	}
	l, err := newLocal(g.env, g.w)
	if err != nil {
		return nil
	}
	return []string{l.path, l.infoPath()}
}

// marks are what a child of a run has and a service or an editor has not: born
// says how it was started, times that it began while the lock was held.
func (g *ground) marks(p process, env signs) (born, times string) {
	var found []string
	if why := g.lostLeader(p); why != "" {
		found = append(found, why)
	}
	if env.tool {
		found = append(found, "its environment is that of a tofu's child")
	}
	if env.cookie {
		found = append(found, "its environment is that of a provider plugin")
	}
	if g.unheard(p) {
		found = append(found, "what it prints went to a program that is gone")
	}
	if g.inWindow(p) {
		times = "it began while the lock was held"
	}
	return strings.Join(found, ", "), times
}

func (g *ground) inWindow(p process) bool {
	return !g.s.created.IsZero() && !p.started.Before(g.s.created.Add(-skewTolerance))
}

// group is the process group of handrail, 0 where the table does not have it.
func (g *ground) group() int { return g.t.all[os.Getpid()].group }

// lostLeader says that the leader of a process group is gone. The group of
// handrail says nothing: what led it may have ended long ago.
func (g *ground) lostLeader(p process) string {
	if p.group == p.pid || p.group == g.group() {
		return ""
	}
	if leader, ok := g.t.all[p.group]; ok && !leader.ended() {
		return ""
	}
	return fmt.Sprintf("the process %d that led its group is gone", p.group)
}

// unheard reports whether its output is a pipe that nothing reads any more.
func (g *ground) unheard(p process) bool {
	files, err := g.t.openFiles(p)
	if err != nil {
		return false
	}
	for _, f := range files {
		if (f.fd == 1 || f.fd == 2) && f.write && strings.HasPrefix(f.name, "pipe:[") {
			if g.pipes == nil {
				g.pipes, g.pipesOK = g.t.readers()
			}
			if g.pipesOK && !g.pipes[f.name] {
				return true
			}
		}
	}
	return false
}

// maxAncestors bounds a walk up a table that changes while it is read.
const maxAncestors = 64

// detached reports whether what started a process is gone. Its parent is init, or
// another process that takes orphans in: then it is outside the group of p, whose
// leader is gone. A parent of the same group started it; it is detached with that
// one, if the parent itself works on the ground. A process without a parent came
// from outside of this namespace (kubectl exec), and lost none. The first process
// of a container may have started p itself: then that is not sure.
func (g *ground) detached(p process) (lost, surely bool) {
	for range maxAncestors {
		parent, ok := g.t.all[p.ppid]
		orphaned := g.lostLeader(p) != "" || p.group == p.pid && parent.reaps()
		switch {
		case p.ppid == 0:
			return false, false
		case !ok || parent.ended() || orphaned && parent.group != p.group:
			return true, true
		case p.ppid == 1:
			return true, parent.reaps()
		case parent.group != p.group || !g.works(parent):
			return false, false
		}
		p = parent
	}
	return false, false
}

// reapers are programs that take the orphans of others in.
var reapers = []string{"systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "conmon", "containerd-shim", "containerd-shim-runc-v2", "s6-svscan", "s6-supervise", "runsvdir", "runsv"}

func (p process) reaps() bool { return slices.Contains(reapers, p.called()) }

// called is the base name of the program.
func (p process) called() string {
	if len(p.argv) > 0 {
		return strings.TrimPrefix(filepath.Base(p.argv[0]), "-")
	}
	return p.exe
}

// sitters are programs that people leave running in a directory.
var sitters = []string{
	"tmux", "tmux: server", "screen", "SCREEN", "zellij", "dtach", "abduco", "mosh-server", "script",
	"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "hx", "code", "code-server", "less", "more", "tail", "man", "watch", "watchman",
	"ssh-agent", "gpg-agent", "dbus-daemon", "terraform-ls", "tofu-ls", "gopls", "git", "gitstatusd",
}

// shells sit where they are given no script.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox"}

// sitter reports whether a process is of a sort that merely sits in a directory.
func sitter(p process) bool {
	name, _, _ := strings.Cut(p.called(), " ")
	if slices.Contains(sitters, name) || slices.Contains(sitters, p.exe) {
		return true
	}
	if !slices.Contains(shells, name) {
		return false
	}
	for _, a := range p.argv[1:] {
		if !strings.HasPrefix(a, "-") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
			return false
		}
	}
	return true
}
