package holder

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
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
)

// Suspect is what is known of a holder before the process table is read.
type Suspect struct {
	Who     string    // user@host, "" when not known
	Created time.Time // zero when not known
}

// Scan is what the process table says of a suspect.
type Scan struct {
	Here     bool
	HereWhy  string    // why here is not known, "" when it is
	Holders  []Process // tofu or terraform that can be the holder
	Later    []Process // of the same directory, started after the lock was taken
	Plugins  []Process // providers whose tofu is gone
	Children []Process // of provisioners and plugins whose tofu is gone
	Sitting  []Process // in the directory, and by nothing a part of a run
	Blind    string    // why the holder can be here unseen, "" when it cannot
	Proof    string    // how the kernel proves that the holder is gone, "" where it does not
	NoProof  string    // why it does not
	ci       ciRun     // of a CI system, that the processes belong to
	ciWhy    string    // why it is not known
}

// Look looks for the process that took the lock of w, and for what it
// left behind. Beside an error, which says that the process table cannot be read, it
// still tells where the holder ran.
func Look(env steps.Env, w module.Workdir, s Suspect) (Scan, error) {
	root := env.Proc
	if root == "" {
		root = "/proc"
	}
	var r Scan
	switch host := backend.HostOf(s.Who); {
	case host == "":
		r.HereWhy = "the lock does not say on which machine its holder runs"
	default:
		r.Here = strings.EqualFold(host, env.Host)
	}
	t, err := readProcs(root)
	if err != nil {
		if why := maybeHere(env, s.Who); r.Elsewhere() && why != "" {
			r.HereWhy = why
		}
		r.NoProof = err.Error()
		return r, err
	}
	r.Blind = t.blind(env)
	if user := backend.UserOf(s.Who); r.Blind == "" && user != "" && user != env.User && os.Geteuid() != 0 {
		r.Blind = fmt.Sprintf("the holder runs as %q: its children cannot be told apart by %q; look as that user or as root", user, env.User)
	}
	t.unmask()
	g := newGround(env, t, w, s)
	rest := r.tools(g)
	r.left(g, rest)
	r.Proof, r.NoProof = r.prove(g, rest)
	r.ci, r.ciWhy = r.ciOf(root, backend.HostOf(s.Who))
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

// tools finds the runs and the plugins that lost theirs, and returns what else
// runs without a living tofu above it.
func (r *Scan) tools(g *ground) (rest []Process) {
	t := g.t
	for _, pid := range t.pids() {
		p := t.all[pid]
		if p.ended() || pid == os.Getpid() {
			continue
		}
		switch {
		case t.isTool(p) && t.forked(p):
			// Its parent is judged by the same program, arguments and directory.
		case t.isTool(p):
			r.tool(g, p)
		case t.underTool(p):
			// A part of a run that lives: its tofu is counted.
		case p.plugin():
			r.plugin(g, p)
		case !g.mine[pid] && !g.own(p):
			rest = append(rest, p)
		}
	}
	return rest
}

// tool judges one tofu or terraform.
func (r *Scan) tool(g *ground, p Process) {
	if g.descends(p, os.Getpid()) && looks(p) {
		return // a probe of handrail itself
	}
	if g.inside(p) {
		p.why = "it works in " + p.workIn()
	} else {
		switch where := g.elsewhere(p); where {
		case "":
			return
		case same:
			p.why = "it uses the same state, in " + p.workIn()
		default:
			if r.Blind == "" && !after(p, g.s) {
				r.Blind = where
			}
			return
		}
	}
	if after(p, g.s) {
		r.Later = append(r.Later, p)
		return
	}
	r.Holders = append(r.Holders, p)
}

// plugin judges a provider whose tofu is gone.
func (r *Scan) plugin(g *ground, p Process) {
	env, _ := g.t.signsOf(p)
	there, named, _ := g.ties(p, env)
	switch {
	case there != "":
		p.why = there + ", and its tofu is gone"
	case named != "":
		p.why = named + ", and its tofu is gone"
	case p.cwd == "" && !errors.Is(p.cwdErr, os.ErrNotExist):
		if r.Blind == "" && !before(p, g.s) {
			r.Blind = fmt.Sprintf("process %d is a provider plugin of user id %s that lost its tofu, and its directory cannot be read: look as that user or as root", p.PID, p.uid)
		}
		return
	default:
		return
	}
	r.Plugins = append(r.Plugins, p)
}

// left finds what provisioners and plugins began and nothing ended: by what ties
// it to the ground, and then by descent and process group.
func (r *Scan) left(g *ground, rest []Process) {
	kin := map[int]int{} // process group -> a member of it
	member := map[int]bool{}
	add := func(p Process, why string) {
		p.why = why
		member[p.PID] = true
		if p.group != g.group() {
			kin[p.group] = p.PID
		}
	}
	for _, p := range r.Plugins {
		add(p, "")
	}
	why := map[int]string{}
	var open []Process
	for _, p := range rest {
		switch sure, text := g.judge(p); sure {
		case belongs:
			add(p, text)
			why[p.PID] = text
		case doubtful:
			if r.Blind == "" {
				r.Blind = text
			}
		case sits:
			p.why = text
			r.Sitting = append(r.Sitting, p)
			open = append(open, p)
		default:
			open = append(open, p)
		}
	}
	for again := true; again; {
		again = false
		for _, p := range open {
			if member[p.PID] {
				continue
			}
			from, ok := kin[p.group]
			lost, _ := g.detached(p)
			switch {
			case member[p.ppid]:
				why[p.PID] = fmt.Sprintf("process %d started it", p.ppid)
			case ok && lost:
				why[p.PID] = fmt.Sprintf("it is of the process group of %d, and what started it is gone", from)
			default:
				continue
			}
			add(p, "")
			again = true
		}
	}
	for _, p := range rest {
		if text, ok := why[p.PID]; ok {
			p.why = text
			r.Children = append(r.Children, p)
		}
	}
	r.Sitting = slices.DeleteFunc(r.Sitting, func(p Process) bool { return member[p.PID] })
}

// own reports whether handrail started a process, or is it: the executor of an
// act is a process of its own.
func (g *ground) own(p Process) bool {
	if g.descends(p, os.Getpid()) {
		return true
	}
	if len(p.argv) < 2 || p.argv[1] != "__act" {
		return false
	}
	a, err := os.Stat(filepath.Join(g.t.root, strconv.Itoa(p.PID), "exe"))
	if err != nil {
		return false
	}
	b, err := os.Stat(filepath.Join(g.t.root, strconv.Itoa(os.Getpid()), "exe"))
	return err == nil && os.SameFile(a, b)
}

// descends reports whether one process started another, or what started it.
func (g *ground) descends(p Process, from int) bool {
	for range maxAncestors {
		if p.ppid == from {
			return true
		}
		parent, ok := g.t.all[p.ppid]
		if !ok || p.ppid <= 1 {
			return false
		}
		p = parent
	}
	return false
}

// looks reports whether a tofu takes no lock and writes nothing.
func looks(p Process) bool {
	for _, a := range p.argv[min(1, len(p.argv)):] {
		if a == "-lock=false" {
			return true
		}
		if !strings.HasPrefix(a, "-") {
			return slices.Contains([]string{"version", "show", "providers", "validate", "output", "graph", "fmt"}, a) ||
				slices.Contains(p.argv, "-lock=false")
		}
	}
	return slices.Contains(p.argv, "-version") || slices.Contains(p.argv, "--version")
}

func after(p Process, s Suspect) bool {
	return !s.Created.IsZero() && p.started.After(s.Created.Add(backend.SkewTolerance))
}

// before reports whether a process began too early to be a child of the holder:
// a plugin may begin a little before its tofu takes the lock.
func before(p Process, s Suspect) bool {
	return !s.Created.IsZero() && p.started.Before(s.Created.Add(-maxStart))
}

// maxStart is how long a tofu may take from its start until it holds the lock.
const maxStart = time.Hour

// inside reports whether a tofu works in the directory of the state or below it.
func (g *ground) inside(p Process) bool {
	if p.cwd == "" {
		return false
	}
	if a, err := os.Stat(filepath.Join(g.t.root, strconv.Itoa(p.PID), "cwd")); err == nil {
		if b, err := os.Stat(g.w.Dir); err == nil && os.SameFile(a, b) {
			return true
		}
	}
	return below(p.workIn(), g.w.Dir)
}

// underTool reports whether a live tofu is among the ancestors of p.
func (t procTable) underTool(p Process) bool {
	for range maxAncestors {
		parent, ok := t.all[p.ppid]
		if !ok || p.ppid <= 1 {
			return false
		}
		if t.isTool(parent) && !parent.ended() {
			return true
		}
		p = parent
	}
	return false
}

// same marks a tofu that runs elsewhere on the same state.
const same = "same"

// elsewhere judges a tofu that works in another directory: "" when it cannot
// hold this lock, same when it can, else why that cannot be told.
func (g *ground) elsewhere(p Process) string {
	if p.cwd == "" {
		if errors.Is(p.cwdErr, os.ErrNotExist) {
			return ""
		}
		return fmt.Sprintf("process %d is %s of user id %s and its directory cannot be read: look as that user or as root", p.PID, p.called(), p.uid)
	}
	env, _ := g.t.signsOf(p)
	dir := g.t.within(p)
	if strings.HasSuffix(p.cwd, " (deleted)") {
		return fmt.Sprintf("process %d runs %s in %q, which was removed under it: which state it uses cannot be told", p.PID, p.called(), strings.TrimSuffix(p.cwd, " (deleted)"))
	}
	key, err := readBackendKey(g.env, dir, env.data)
	switch {
	case errors.Is(err, module.ErrNotInitialised), errors.Is(err, os.ErrNotExist):
		return ""
	case err != nil && slices.Contains(p.argv, "init"):
		// It writes the settings that could not be read, and holds no lock yet.
		return ""
	case err != nil:
		return fmt.Sprintf("process %d runs %s in %q, and which state it uses cannot be read: %v", p.PID, p.called(), p.workIn(), err)
	case !g.key.known():
		return fmt.Sprintf("process %d runs %s in %q, and the backend of this directory cannot be read to compare", p.PID, p.called(), p.workIn())
	case key.same(g.key):
		return same
	}
	return ""
}

// within is the directory of a process as it can be read from here: one in a
// container has other mounts.
func (t procTable) within(p Process) string {
	at := func(pid string) string {
		ns, _ := os.Readlink(filepath.Join(t.root, pid, "ns", "mnt"))
		return ns
	}
	pid := strconv.Itoa(p.PID)
	if theirs := at(pid); theirs == "" || theirs == at("self") {
		return p.workIn()
	}
	return filepath.Join(t.root, pid, "root", p.workIn())
}
