package holder

import (
	"bytes"
	"errors"
	"fmt"
	"handrail/steps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ticks is the unit of start times in /proc: USER_HZ, 100 on every Linux that
// Go runs on.
const ticks = 100

// initial namespaces have fixed inode numbers (include/linux/proc_ns.h).
const (
	initialPID = "pid:[4026531836]"
	initialUTS = "uts:[4026531838]"
)

// Process is one row of the process table.
type Process struct {
	PID     int
	ppid    int
	group   int
	session int
	state   byte
	started time.Time
	argv    []string
	exe     string // base name of the program, "" when not readable
	cwd     string // "" when not readable
	cwdErr  error
	uid     string
	why     string // that it belongs to a run, in words; set by the scan
}

// procTable reads the process table as Linux mounts it.
type procTable struct {
	root   string
	boot   time.Time // when the machine started
	all    map[int]Process
	masked map[int]bool // tofus by another name
}

// readProcs reads every process. What ends while it is read is left out.
func readProcs(root string) (procTable, error) {
	t := procTable{root: root, all: map[int]Process{}}
	entries, err := os.ReadDir(root)
	if err != nil {
		return t, fmt.Errorf("process table: %w", err)
	}
	if t.boot, err = bootTime(filepath.Join(root, "stat")); err != nil {
		return t, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := readProc(filepath.Join(root, e.Name()), pid, t.boot)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return t, fmt.Errorf("process %d: %w", pid, err)
		}
		t.all[pid] = p
	}
	return t, nil
}

func bootTime(name string) (time.Time, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return time.Time{}, fmt.Errorf("process table: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			sec, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err != nil {
				return time.Time{}, fmt.Errorf("process table: %q is not a boot time", rest)
			}
			return time.Unix(sec, 0), nil
		}
	}
	return time.Time{}, errors.New("process table: it does not say when the machine started")
}

var errGone = errors.New("process ended")

func readProc(dir string, pid int, boot time.Time) (Process, error) {
	p := Process{PID: pid}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return p, goneOr(err)
	}
	// The name is in brackets and may hold anything, brackets too.
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	f := strings.Fields(string(rest))
	if !ok || len(f) < 20 {
		return p, fmt.Errorf("%q is not a process status", steps.Clip(string(stat), 200))
	}
	p.state = f[0][0]
	p.ppid, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	start, err := strconv.ParseInt(f[19], 10, 64)
	if err != nil {
		return p, fmt.Errorf("%q is not a start time", f[19])
	}
	p.started = boot.Add(time.Duration(start) * (time.Second / ticks))
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return p, goneOr(err)
	}
	if s := strings.TrimRight(string(cmdline), "\x00"); s != "" {
		p.argv = strings.Split(s, "\x00")
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return p, goneOr(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "Uid:" {
			p.uid = f[2]
		}
	}
	// Both links need the rights of a debugger; without them they stay empty.
	if exe, err := os.Readlink(filepath.Join(dir, "exe")); err == nil {
		p.exe = strings.TrimSuffix(filepath.Base(exe), " (deleted)")
	}
	p.cwd, p.cwdErr = os.Readlink(filepath.Join(dir, "cwd"))
	return p, nil
}

func goneOr(err error) error {
	// ESRCH is what reading says of a process that ends just then.
	if errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "no such process") {
		return errGone
	}
	return err
}

// ended reports whether the process is only a row that its parent has not read.
func (p Process) ended() bool { return p.state == 'Z' || p.state == 'X' }

var toolName = regexp.MustCompile(`^(open)?(tofu|terraform)([-_.]?v?[0-9][0-9a-z.+-]*)?(\.exe)?$`)

// tool reports whether the process is tofu or terraform, whatever its version
// is called.
func (p Process) tool() bool {
	return toolName.MatchString(p.exe) || (len(p.argv) > 0 && toolName.MatchString(filepath.Base(p.argv[0])))
}

// plugin reports whether the process is a provider.
func (p Process) plugin() bool {
	return strings.HasPrefix(p.exe, "terraform-provider-") || (len(p.argv) > 0 && strings.HasPrefix(filepath.Base(p.argv[0]), "terraform-provider-"))
}

// unmask finds tofus that are called something else, by the plugins that they
// started: a plugin whose tofu is gone is a child of what takes orphans in.
func (t *procTable) unmask() {
	t.masked = map[int]bool{}
	mine := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !mine[pid]; pid = t.all[pid].ppid {
		mine[pid] = true
	}
	for _, p := range t.all {
		parent, ok := t.all[p.ppid]
		if ok && p.plugin() && !p.ended() && p.ppid > 1 && parent.group == p.group && !parent.plugin() && !parent.reaps() && !mine[parent.PID] {
			t.masked[parent.PID] = true
		}
	}
}

// isTool reports whether a process is tofu or terraform, whatever it is called.
func (t procTable) isTool(p Process) bool { return p.tool() || t.masked[p.PID] }

// forked reports whether p is a tofu that is starting a child: between fork and
// exec the child has the program and the arguments of its parent.
func (t procTable) forked(p Process) bool {
	parent, ok := t.all[p.ppid]
	return ok && !parent.ended() && parent.exe == p.exe && parent.cwd == p.cwd && slices.Equal(parent.argv, p.argv)
}

// workIn returns the directory that the process works in, -chdir included.
func (p Process) workIn() string {
	dir := p.cwd
	for _, a := range p.argv {
		if to, ok := strings.CutPrefix(a, "-chdir="); ok {
			if filepath.IsAbs(to) {
				return to
			}
			// Either it has changed there already or it is about to.
			if strings.HasSuffix(dir, "/"+filepath.Clean(to)) {
				return dir
			}
			return filepath.Join(dir, to)
		}
	}
	return dir
}

// blind says why processes of this machine may be hidden from us, "" when none
// are.
func (t procTable) blind(env steps.Env) string {
	if b, err := os.ReadFile(filepath.Join(t.root, "self", "mounts")); err == nil && os.Geteuid() != 0 {
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) > 3 && f[2] == "proc" && f[1] == t.root && hidesPID(f[3]) {
				return "the process table hides the processes of other users (hidepid): look as root"
			}
		}
	}
	pid, err := os.Readlink(filepath.Join(t.root, "self", "ns", "pid"))
	if err != nil {
		return "whether this is the machine's own PID namespace cannot be told: " + err.Error()
	}
	if pid == initialPID {
		return ""
	}
	uts, _ := os.Readlink(filepath.Join(t.root, "self", "ns", "uts"))
	if uts == initialUTS || env.Getenv("KUBERNETES_SERVICE_HOST") != "" {
		return "this is a container that shares its host name with processes it cannot see: look on the host, or in the container of the run"
	}
	return ""
}

func hidesPID(options string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if v, ok := strings.CutPrefix(o, "hidepid="); ok && v != "0" && v != "off" {
			return true
		}
	}
	return false
}

// Described is what a person needs to know of a process beside its number.
func (p Process) Described() string {
	text := shortArgs(p)
	if !p.started.IsZero() {
		text += ", since " + p.started.UTC().Format(time.RFC3339)
	}
	if p.why != "" {
		text += " (" + p.why + ")"
	}
	return text
}

// shortArgs shows a command line without what may be secret in it: values of
// -var and -backend-config.
func shortArgs(p Process) string {
	args := make([]string, 0, len(p.argv))
	for i, a := range p.argv {
		name, _, ok := strings.Cut(a, "=")
		secret := func(s string) bool {
			s = strings.TrimLeft(s, "-")
			return s == "var" || s == "backend-config"
		}
		switch {
		case ok && secret(name):
			a = name + "=..."
		case i > 0 && secret(p.argv[i-1]) && !strings.Contains(p.argv[i-1], "="):
			a = "..."
		}
		args = append(args, a)
	}
	if len(args) == 0 {
		return p.exe
	}
	return steps.Clip(strings.Join(args, " "), 200)
}

func (p Process) reaps() bool { return slices.Contains(reapers, p.called()) }

// called is the base name of the program.
func (p Process) called() string {
	if len(p.argv) > 0 {
		return strings.TrimPrefix(filepath.Base(p.argv[0]), "-")
	}
	return p.exe
}

// reapers are programs that take the orphans of others in.
var reapers = []string{"systemd", "init", "tini", "dumb-init", "docker-init", "catatonit", "conmon", "containerd-shim", "containerd-shim-runc-v2", "s6-svscan", "s6-supervise", "runsvdir", "runsv"}
