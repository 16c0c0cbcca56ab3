package holder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

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
func (g *ground) judge(p Process) (belief, string) {
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
		return doubtful, fmt.Sprintf("process %d was left behind by a tofu that is gone, and of which state cannot be told (%s, in %q)", p.PID, shortArgs(p), p.cwd)
	}
	return stranger, ""
}

// unreadable judges the process of another user by what all can see of it.
func (g *ground) unreadable(p Process) (belief, string) {
	if errors.Is(p.cwdErr, fs.ErrNotExist) || !g.inWindow(p) || g.lostLeader(p) == "" {
		return stranger, ""
	}
	return doubtful, fmt.Sprintf("process %d of user id %s began while the lock was held, lost what started it, and cannot be looked into (%s): look as that user or as root", p.PID, p.uid, shortArgs(p))
}
