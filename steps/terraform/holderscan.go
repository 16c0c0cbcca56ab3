package terraform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

// suspect is what is known of a holder before the process table is read.
type suspect struct {
	who     string    // user@host, "" when not known
	created time.Time // zero when not known
}

// scan is what the process table says of a suspect.
type scan struct {
	here     bool
	hereWhy  string    // why here is not known, "" when it is
	holders  []process // tofu or terraform that can be the holder
	later    []process // of the same directory, started after the lock was taken
	plugins  []process // providers whose tofu is gone
	children []process // of provisioners whose tofu is gone
	blind    string    // why the holder can be here unseen, "" when it cannot
	ci       ciRun     // of a CI system, that the processes belong to
	ciWhy    string    // why it is not known
}

// scanHolder looks for the process that took the lock of w, and for what it
// left behind.
func scanHolder(env steps.Env, w workdir, s suspect) (scan, error) {
	root := env.Proc
	if root == "" {
		root = "/proc"
	}
	var r scan
	switch host := hostOf(s.who); {
	case host == "":
		r.hereWhy = "the lock does not say on which machine its holder runs"
	default:
		r.here = strings.EqualFold(host, env.Host)
	}
	t, err := readProcs(root)
	if err != nil {
		return r, err
	}
	r.blind = t.blind(env)
	if user := userOf(s.who); r.blind == "" && user != "" && user != env.User && os.Geteuid() != 0 {
		r.blind = fmt.Sprintf("the holder runs as %q: its children cannot be told apart by %q; look as that user or as root", user, env.User)
	}
	own, _ := readBackendKey(env, w.dir)
	for _, pid := range t.pids() {
		p := t.all[pid]
		if p.ended() || pid == os.Getpid() {
			continue
		}
		r.sort(env, t, p, w, own, s)
	}
	r.ci, r.ciWhy = r.ciOf(root, hostOf(s.who))
	return r, nil
}

func (t procTable) pids() []int {
	pids := make([]int, 0, len(t.all))
	for pid := range t.all {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// sort puts one process where it belongs.
func (r *scan) sort(env steps.Env, t procTable, p process, w workdir, own string, s suspect) {
	inside := t.inside(p, w.dir)
	switch {
	case p.tool():
		if !inside {
			if where := elsewhere(env, p, own); where != "" {
				if where != same {
					if r.blind == "" && !after(p, s) {
						r.blind = where
					}
					return
				}
			} else {
				return
			}
		}
		if after(p, s) {
			r.later = append(r.later, p)
			return
		}
		r.holders = append(r.holders, p)
	case !inside && !(p.plugin() && t.pluginOf(p, w)):
	case t.underTool(p):
		// A part of a run that lives: its tofu is counted.
	case p.plugin():
		r.plugins = append(r.plugins, p)
	case t.orphan(p, w.dir):
		r.children = append(r.children, p)
	}
}

func after(p process, s suspect) bool {
	return !s.created.IsZero() && p.started.After(s.created.Add(skewTolerance))
}

// inside reports whether p works in dir or below it; by file identity too, for
// links and bind mounts.
func (t procTable) inside(p process, dir string) bool {
	if p.cwd == "" {
		return false
	}
	if a, err := os.Stat(filepath.Join(t.root, strconv.Itoa(p.pid), "cwd")); err == nil {
		if b, err := os.Stat(dir); err == nil && os.SameFile(a, b) {
			return true
		}
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	at := p.workIn()
	return at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}

// pluginOf reports whether a provider was started from the data directory of w.
func (t procTable) pluginOf(p process, w workdir) bool {
	return len(p.argv) > 0 && strings.HasPrefix(p.argv[0], w.data+"/")
}

// underTool reports whether a live tofu is among the ancestors of p.
func (t procTable) underTool(p process) bool {
	for range 64 {
		parent, ok := t.all[p.ppid]
		if !ok || p.ppid <= 1 {
			return false
		}
		if parent.tool() && !parent.ended() {
			return true
		}
		p = parent
	}
	return false
}

// orphan reports whether p lost the process that started it. Its parent is init,
// or another process that takes orphans in: then it is outside the group of p,
// whose leader is gone. A parent of the same group started it; it is an orphan
// with that one, if the parent itself belongs to the run in dir. The group of
// handrail's own shell says nothing: its leader may have ended long ago.
func (t procTable) orphan(p process, dir string) bool {
	for range maxAncestors {
		parent, ok := t.all[p.ppid]
		if p.ppid == 1 || !ok {
			return true
		}
		if parent.group != p.group {
			leader, ok := t.all[p.group]
			return !ok || leader.ended()
		}
		if !t.inside(parent, dir) {
			return false
		}
		p = parent
	}
	return false
}

// maxAncestors bounds a walk up a table that changes while it is read.
const maxAncestors = 64

// same marks a tofu that runs elsewhere on the same state.
const same = "same"

// elsewhere judges a tofu that works in another directory: "" when it cannot
// hold this lock, same when it can, else why that cannot be told.
func elsewhere(env steps.Env, p process, own string) string {
	if p.cwd == "" {
		if errors.Is(p.cwdErr, os.ErrNotExist) {
			return ""
		}
		return fmt.Sprintf("process %d is %s of user id %s and its directory cannot be read: look as that user or as root", p.pid, p.exe, p.uid)
	}
	key, err := readBackendKey(env, p.workIn())
	switch {
	case errors.Is(err, errNotInitialised), errors.Is(err, os.ErrNotExist):
		return ""
	case err != nil && slices.Contains(p.argv, "init"):
		// It writes the settings that could not be read, and holds no lock yet.
		return ""
	case err != nil:
		return fmt.Sprintf("process %d runs %s in %q, and which state it uses cannot be read: %v", p.pid, p.exe, p.workIn(), err)
	case own == "":
		return fmt.Sprintf("process %d runs %s in %q, and the backend of this directory cannot be read to compare", p.pid, p.exe, p.workIn())
	case key == own:
		return same
	}
	return ""
}

// readBackendKey names the states that a directory can lock, whatever the
// workspace. Servers are left out: one cluster has many addresses.
func readBackendKey(env steps.Env, dir string) (string, error) {
	env.Environ = nil // of the operator: another process has its own
	w, err := readWorkdir(env, dir)
	if err != nil {
		return "", err
	}
	switch w.backend {
	case "kubernetes":
		return "kubernetes/" + w.str("secret_suffix"), nil
	case "local":
		l, err := newLocal(env, workdir{dir: w.dir, config: w.config, space: "default"})
		if err != nil {
			return "", err
		}
		return "local/" + l.path, nil
	}
	return fmt.Sprintf("%s/%v", w.backend, w.config), nil
}
