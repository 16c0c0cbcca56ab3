package holder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps/terraform/backend"
)

// ties are what binds a process to the ground: what it has there now, what it was
// given there, and what it has beside it.
func (g *ground) ties(p Process, env signs) (there, named, near string) {
	switch {
	case g.works(p):
		there = "it works in " + p.workIn()
	case env.data != "" && resolved(absolute(env.data, p.cwd)) == g.w.Data:
		there = "its " + dataVariable + " is that of the directory"
	case len(p.argv) > 0 && below(absolute(p.argv[0], p.cwd), g.w.Data):
		there = "it is a program in " + g.w.Data
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
func (g *ground) holds(p Process) string {
	files, _ := g.t.openFiles(p)
	for _, f := range files {
		if f.write && filepath.IsAbs(f.name) && (below(f.name, g.w.Data) || slices.Contains(g.stateFiles(), strings.TrimSuffix(f.name, " (deleted)"))) {
			return "it has " + f.name + " open for writing"
		}
	}
	return ""
}

// stateFiles are those that a local state and its lock are kept in.
func (g *ground) stateFiles() []string {
	if g.w.Backend != "local" {
		return nil
	}
	state, info := backend.LocalFiles(g.w)
	return []string{state, info}
}

// marks are what a child of a run has and a service or an editor has not: born
// says how it was started, times that it began while the lock was held.
func (g *ground) marks(p Process, env signs) (born, times string) {
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

func (g *ground) inWindow(p Process) bool {
	return !g.s.Created.IsZero() && !p.started.Before(g.s.Created.Add(-backend.SkewTolerance))
}

// group is the process group of handrail, 0 where the table does not have it.
func (g *ground) group() int { return g.t.all[os.Getpid()].group }

// lostLeader says that the leader of a process group is gone. The group of
// handrail says nothing: what led it may have ended long ago.
func (g *ground) lostLeader(p Process) string {
	if p.group == p.PID || p.group == g.group() {
		return ""
	}
	if leader, ok := g.t.all[p.group]; ok && !leader.ended() {
		return ""
	}
	return fmt.Sprintf("the process %d that led its group is gone", p.group)
}

// unheard reports whether its output is a pipe that nothing reads any more.
func (g *ground) unheard(p Process) bool {
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
