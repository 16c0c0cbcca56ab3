package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/drills/lab"
	"handrail/evidence"
	"handrail/session/audit"
	"handrail/session/journal"
	"handrail/steps/catalog"
	"handrail/triage"
)

// practice is a home with the lab, and one killed apply in it that several state
// directories may look at.
type practice struct {
	t     *testing.T
	home  string
	tofu  string
	state string // XDG_STATE_HOME of the drill
	env   []string
}

// newPractice is a home of its own with handrail on its PATH and no drill yet.
func newPractice(t *testing.T, home string) *practice {
	t.Helper()
	built, err := lab.Build(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &practice{t: t, home: home, tofu: built["tofu"], state: t.TempDir()}
	p.env = []string{"HOME=" + home, "GOGC=" + os.Getenv("GOGC"), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "GOPATH=" + os.Getenv("GOPATH"),
		usesLab(t), "XDG_STATE_HOME=" + p.state}
	return p
}

// elsewhere is the same lab seen by an operator with other files.
func (p *practice) elsewhere(env ...string) *practice {
	q := *p
	q.state = p.t.TempDir()
	q.env = append(append(q.env[:len(q.env):len(q.env)], "XDG_STATE_HOME="+q.state), env...)
	return &q
}

func (p *practice) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), filepath.Join(p.home, "bin", "handrail"), args...)
	cmd.Dir, cmd.Env = "..", p.env // where the sources of the lab are found
	return cmd
}

// run wants an exit code and returns what was said.
func (p *practice) run(code int, stdin string, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("handrail %s ended with %d, want %d:\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// breaks starts the drill and reads its lock; it returns the id.
func (p *practice) breaks() (lockID string) {
	p.t.Helper()
	p.run(process.ExitOpen, "\nq\n", "drill", "start", "killed-runner", "--plain")
	p.stops("killed-runner")
	st := p.folded(p.bundle())
	lock, _ := st.Step("state-lock/lock")
	id := lock.Facts["id"]
	if !id.Known() {
		p.t.Fatalf("the lock was not read: %+v", lock)
	}
	return id.Text()
}

// stops ends a drill with the test.
func (p *practice) stops(id string) {
	p.t.Cleanup(func() {
		cmd := p.command("drill", "stop", id)
		cmd.Cancel = nil
		stop := exec.Command(cmd.Path, cmd.Args[1:]...) // the context of the test has ended
		stop.Dir, stop.Env = cmd.Dir, cmd.Env
		if out, err := stop.CombinedOutput(); err != nil && !strings.Contains(string(out), "has not been started") {
			p.t.Errorf("drill stop: %v\n%s", err, out)
		}
	})
}

// dir is the root module of the drill, log what its apply said.
func (p *practice) dir() string { return filepath.Join(p.state, "handrail/drills/killed-runner/work") }
func (p *practice) log() string {
	return filepath.Join(p.state, "handrail/drills/killed-runner/apply.log")
}

// bundle is the one bundle of the state directory, "" while there is none.
func (p *practice) bundle() string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.state, "handrail", "incidents", "*.hrb"))
	if err != nil || len(found) > 1 {
		p.t.Fatalf("bundles = %v, %v, want one", found, err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func (p *practice) folded(path string) triage.State {
	p.t.Helper()
	st, err := journal.LoadState(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return st
}

// sound wants a bundle that verifies and keeps the laws of the loop.
func (p *practice) sound(path string) {
	p.t.Helper()
	rep, err := evidence.Verify(path)
	if err != nil || !rep.OK() {
		p.t.Fatalf("Verify() = %+v, %v, want all well", rep.Lines, err)
	}
	laws, err := audit.Bundle(path, catalog.New(), audit.Verifier{})
	if err != nil || !laws.OK() {
		p.t.Fatalf("audit.Bundle() = %+v, %v, want all kept", laws.Lines, err)
	}
}

const journalFile = "journal/000001.jsonl"

// journalOf returns the whole lines of a journal.
func journalOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path, journalFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return b[:bytes.LastIndexByte(b, '\n')+1]
}

// until waits for the journal to show what is wanted, as long as the program
// that writes it lives. It is read again when it has grown, and only then: a watch
// takes a minute, and a journal is long.
func (p *practice) until(what string, ended <-chan struct{}, said func() string, seen func(journal []byte) bool) {
	p.t.Helper()
	path, read := "", int64(-1)
	p.waits(what, ended, said, func() bool {
		if path == "" {
			path = p.bundle()
		}
		if path == "" {
			return false
		}
		size := p.size(path)
		if size == read {
			return false
		}
		read = size
		return seen(journalOf(p.t, path))
	})
}

// waits looks until it is so, as long as the program lives.
func (p *practice) waits(what string, ended <-chan struct{}, said func() string, so func() bool) {
	p.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		if so() {
			return
		}
		select {
		case <-tick.C:
		case <-ended:
			if !so() {
				p.t.Fatalf("the program ended before %s:\n%s", what, said())
			}
			return
		case <-limit.C:
			p.t.Fatalf("it never came to %s; the journal ends with\n%s", what, tail(journalOf(p.t, p.bundle())))
		}
	}
}

// size is how long the journal of a bundle is, 0 while there is none.
func (p *practice) size(path string) int64 {
	p.t.Helper()
	info, err := os.Stat(filepath.Join(path, journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return info.Size()
}

// tail is the end of a journal.
func tail(journal []byte) []byte { return journal[max(0, len(journal)-4096):] }

// headless is a handrail that runs without a terminal.
type headless struct {
	cmd   *exec.Cmd
	said  bytes.Buffer // to be read after ended
	ended chan struct{}
}

func (p *practice) launch(args ...string) *headless {
	p.t.Helper()
	r := &headless{cmd: p.command(args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.said, &r.said
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a job of its own, as a shell makes it
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // the code is asked of ProcessState
	}()
	p.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // it has usually ended
		<-r.ended
	})
	return r
}

// interrupt is Ctrl-C in a terminal: the whole job hears it.
func (r *headless) interrupt(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
}

func (r *headless) code() int {
	<-r.ended
	return r.cmd.ProcessState.ExitCode()
}

// tty runs handrail as the leader of a terminal.
func (p *practice) tty(rows, cols int, args ...string) (*screen, *exec.Cmd) {
	p.t.Helper()
	cmd := p.command(args...)
	return onScreen(p.t, cmd, rows, cols), cmd
}

// holdup is a tofu that stops at one verb and waits to be let go, once.
type holdup struct {
	path    string
	started chan struct{}
	gate    *os.File
}

// hold makes a tofu that waits before or after it does what verb says.
func (p *practice) hold(verb string, after bool) *holdup {
	p.t.Helper()
	dir := p.t.TempDir()
	open := func(name string) *os.File {
		path := filepath.Join(dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			p.t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0) // waits for no other end
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { _ = f.Close() })
		return f
	}
	h := &holdup{path: filepath.Join(dir, "tofu"), started: make(chan struct{}), gate: open("go")}
	begun := open("begun")
	wait := fmt.Sprintf("echo begun > %q; read go < %q", begun.Name(), h.gate.Name())
	body := wait + "; exec " + p.tofu + ` "$@"`
	if after {
		body = p.tofu + ` "$@"; code=$?; ` + wait + "; exit $code"
	}
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = %s ] && [ ! -e %[2]q/once ]; then : > %[2]q/once; %s; fi\nexec %s \"$@\"\n", verb, dir, body, p.tofu)
	if err := os.WriteFile(h.path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		if _, err := begun.Read(make([]byte, 1)); err == nil {
			close(h.started)
		}
	}()
	return h
}

// reached waits until the tofu is at its verb.
func (h *holdup) reached(t *testing.T, ended <-chan struct{}, said func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case <-h.started:
	case <-ended:
		t.Fatalf("the program ended before the act began:\n%s", said())
	case <-ctx.Done():
		t.Fatalf("the act never began:\n%s", said())
	}
}

func (h *holdup) release(t *testing.T) {
	t.Helper()
	if _, err := h.gate.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
}

// answers writes the reference answers of the drill for a call outside it.
func (p *practice) answers(lockID string) string {
	p.t.Helper()
	src, err := os.ReadFile("../drills/library/killed-runner.answers.yaml")
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.t.TempDir(), "answers.yaml")
	text := strings.ReplaceAll(string(src), "${drill.lock_typed}", lockID[:8])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// drop takes lines that begin so out of a file.
func drop(t *testing.T, file string, beginnings ...string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var keep []string
	for _, line := range strings.SplitAfter(string(src), "\n") {
		if !slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(line, b) }) {
			keep = append(keep, line)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(keep, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}
