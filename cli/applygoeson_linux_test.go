package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"handrail/cli/process"
	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// applyBook makes a plan and applies it, and asks for no more than the laws do.
const applyBook = `
apiVersion: handrail/v1
kind: Runbook
id: apply-test
title: Apply a plan
domain: plan-engine
severity: SEV-3
matrix: 3
proves: {PC2: free}
params:
  dir: {type: path, default: .}
preserve:
  - id: plan
    uses: terraform/saved-plan
    with: {dir: "${params.dir}"}
    required: true
mutation:
  - conclude: mutation
    cases: [{is: 'no', say: Nothing ran.}]
compare:
  - conclude: consistent
    cases: [{is: 'yes', say: Nothing ran.}]
classify:
  - conclude: class
    cases: [{is: MutationNotStarted, say: Nothing ran.}]
recover:
  - id: go
    gate: terraform/apply-plan
    with: {dir: "${params.dir}", plan: "${facts.plan.file}", digest: "${facts.plan.digest}"}
    require: [{when: facts.plan.destroy == 0, else: It destroys.}]
verify:
  - id: free
    watch: terraform/lock
    with: {dir: "${params.dir}"}
    when: '!facts.free.held'
    greens: 2
    apart: 20s
`

// held is a root module whose second resource waits in its provisioner until
// the test lets it go.
type heldApply struct {
	t     *testing.T
	dir   string
	state string
	begun *os.File
	gate  *os.File
	prog  *process.Program
	s     *session.Session
}

const applyGate = "apply-test/go"

func newHeldApply(t *testing.T) *heldApply {
	t.Helper()
	o, err := lab.ForTests("apply")
	if err != nil {
		t.Fatal(err)
	}
	tofu, err := lab.Tofu(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	h := &heldApply{t: t, dir: t.TempDir(), state: t.TempDir()}
	fifo := func(name string) *os.File {
		path := filepath.Join(h.dir, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0) // waits for no other end
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	h.begun, h.gate = fifo("begun"), fifo("go")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	h.prog = &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Environ: env, Now: time.Now, State: h.state, Tofu: tofu}
	h.lay("")
	for _, args := range [][]string{{"init", "-input=false"}, {"apply", "-auto-approve", "-input=false"}} {
		h.tofu(tofu, env, args...)
	}
	h.lay(fmt.Sprintf(`
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  provisioner "local-exec" { command = "echo begun > %[1]s/begun; read x < %[1]s/go" }
}
resource "terraform_data" "c" { depends_on = [terraform_data.b] }
`, h.dir))
	if err := trustDir(h.prog, h.dir); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *heldApply) lay(more string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "main.tf"), []byte("output \"x\" { value = 1 }\n"+more), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *heldApply) tofu(path string, env []string, args ...string) {
	h.t.Helper()
	p := &practice{t: h.t}
	cmd := p.command()
	cmd.Path, cmd.Args, cmd.Dir, cmd.Env = path, append([]string{path}, args...), h.dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("tofu %v: %v\n%s", args, err, out)
	}
}

func (h *heldApply) config() session.Config {
	h.t.Helper()
	c, err := newConfig(h.prog)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// begin walks to the act, and returns while it waits in the provisioner.
func (h *heldApply) begin() {
	h.t.Helper()
	rb, err := runbooks.Parse("apply-test.yaml", []byte(applyBook), catalog.New())
	if err != nil {
		h.t.Fatal(err)
	}
	params, err := rb.Bind(map[string]string{"dir": h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := session.Start(h.t.Context(), h.config(), session.Begin{Runbook: rb, Params: params})
	if err != nil {
		h.t.Fatal(err)
	}
	h.s = s
	h.t.Cleanup(func() { _ = s.Close() })
	answers, err := walk.ParseAnswers("answers.yaml", []byte(`{apiVersion: handrail/v1, kind: Answers, runbook: apply-test, conclude: {mutation: accept, consistent: accept, class: accept}}`))
	if err != nil {
		h.t.Fatal(err)
	}
	if res, err := walk.Play(h.t.Context(), s, walk.Script{Answers: answers, Talk: testTalk{h.t}}); err != nil || res.Code != walk.CodeOpen {
		h.t.Fatalf("walk = %+v, %v", res, err)
	}
	if err := s.Do(h.t.Context(), triage.Intent{Kind: triage.DoPreview, Step: applyGate}); err != nil {
		h.t.Fatal(err)
	}
	gate := s.Snapshot().State.Gates[applyGate]
	if err := s.Do(h.t.Context(), triage.Intent{Kind: triage.DoConfirm, Step: applyGate, Typed: gate.Shown.Phrase}); err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.begun.Read(make([]byte, 6)); err != nil {
		h.t.Fatal(err)
	}
}

type testTalk struct{ t *testing.T }

func (w testTalk) Write(p []byte) (int, error) {
	w.t.Logf("%s", p)
	return len(p), nil
}

func (h *heldApply) release() {
	h.t.Helper()
	if _, err := h.gate.WriteString("go\n"); err != nil {
		h.t.Fatal(err)
	}
}

// program is the tofu that applies, opened so that its end can be waited for.
func (h *heldApply) program() (pidfd int) {
	h.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, link := range links {
		proc := filepath.Dir(link)
		exe, _ := os.Readlink(filepath.Join(proc, "exe"))
		if cwd, err := os.Readlink(link); err != nil || cwd != h.dir || exe != h.prog.Tofu {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil {
			h.t.Fatal(err)
		}
		if pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
			h.t.Fatal(err)
		}
		h.t.Cleanup(func() { _ = unix.Close(pidfd) })
		return pidfd
	}
	h.t.Fatal("no tofu works in " + h.dir)
	return -1
}

// ended waits until the program of pidfd has exited.
func (h *heldApply) ended(pidfd int) {
	h.t.Helper()
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if err == nil {
			return
		}
		if !errors.Is(err, unix.EINTR) {
			h.t.Fatal(err)
		}
	}
}

// resumed is the gate as a later session finds it.
func (h *heldApply) resumed(look func(context.Context, *session.Session)) triage.GateState {
	h.t.Helper()
	s, err := session.Resume(h.t.Context(), h.config(), h.s.Snapshot().Bundle)
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	if look != nil {
		look(h.t.Context(), s)
	}
	for len(s.Snapshot().Running) > 0 {
		<-s.Changed()
	}
	return s.Snapshot().State.Gates[applyGate]
}

// executor is the process that carries the act out, and its claim.
func (h *heldApply) executor() (int, string) {
	return (&practice{t: h.t, state: h.link()}).executor()
}

// link gives the state directory the place that practice knows it by.
func (h *heldApply) link() string {
	h.t.Helper()
	dir := h.t.TempDir()
	if err := os.Symlink(h.state, filepath.Join(dir, "handrail")); err != nil {
		h.t.Fatal(err)
	}
	return dir
}

// recorded says what the state holds at the end.
func (h *heldApply) recorded(want ...string) {
	h.t.Helper()
	c := h.config()
	k, _ := c.Catalog.Lookup("terraform/state")
	obs, err := k.Reads(c.Env).Probe(h.t.Context(), steps.Params{"dir": steps.PathOf(h.dir)}, steps.SecretsOnly(nil))
	if err != nil {
		h.t.Fatal(err)
	}
	if got := obs.Facts["addresses"].Strings(); strings.Join(got, " ") != strings.Join(want, " ") {
		h.t.Errorf("recorded = %q, want %q", got, want)
	}
	lock, _ := c.Catalog.Lookup("terraform/lock")
	if obs, err := lock.Reads(c.Env).Probe(h.t.Context(), steps.Params{"dir": steps.PathOf(h.dir)}, steps.SecretsOnly(nil)); err != nil || obs.Facts["held"].Bool() {
		h.t.Errorf("lock = %+v, %v, want none orphaned", obs.Facts, err)
	}
}

// TestApplyGoesOn takes away, in the middle of a real apply, who follows it.
func TestApplyGoesOn(t *testing.T) {
	t.Parallel()
	t.Run("without its session", func(t *testing.T) {
		t.Parallel()
		h := newHeldApply(t)
		h.begin()
		_, claim := h.executor()
		if err := h.s.Close(); err != nil {
			t.Fatal(err)
		}
		h.release()
		over(t, claim)
		if g := h.resumed(nil); g.Phase != triage.GateDone || g.Found || !strings.Contains(g.Response, "3 changes complete") {
			t.Errorf("gate = %s, %q, want the outcome as it came", g.Phase, g.Response)
		}
		h.recorded("terraform_data.a", "terraform_data.b", "terraform_data.c")
	})
	t.Run("without its executor", func(t *testing.T) {
		t.Parallel()
		h := newHeldApply(t)
		h.begin()
		pid, claim := h.executor()
		program := h.program()
		if err := h.s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		over(t, claim)
		preview := func(ctx context.Context, s *session.Session) {
			if err := s.Do(ctx, triage.Intent{Kind: triage.DoPreview, Step: applyGate}); err != nil {
				t.Log(err)
			}
		}
		if g := h.resumed(preview); g.Phase != triage.GateUnknown {
			t.Errorf("gate while the program runs on = %s, %q, want it unknown", g.Phase, g.Response)
		}
		h.release()
		h.ended(program)
		if g := h.resumed(preview); g.Phase != triage.GateDone || !g.Found || !strings.Contains(g.Response, "All that it was to do is recorded") {
			t.Errorf("gate = %s, %q, want it found done", g.Phase, g.Response)
		}
		h.recorded("terraform_data.a", "terraform_data.b", "terraform_data.c")
	})
	t.Run("until it is interrupted", func(t *testing.T) {
		t.Parallel()
		h := newHeldApply(t)
		h.begin()
		_, claim := h.executor()
		for range 2 { // an impatient one
			if err := h.s.Do(t.Context(), triage.Intent{Kind: triage.DoInterrupt, Step: applyGate}); err != nil {
				t.Fatal(err)
			}
		}
		over(t, claim)
		for len(h.s.Snapshot().Running) > 0 {
			<-h.s.Changed()
		}
		g := h.s.Snapshot().State.Gates[applyGate]
		for _, part := range []string{"Complete: terraform_data.a.", "Failed: terraform_data.b.", "Not started: terraform_data.c."} {
			if g.Phase != triage.GateFailed || !strings.Contains(g.Response, part) || strings.Contains(g.Response, "Two interrupts") {
				t.Errorf("gate = %s, %q, want %q in it", g.Phase, g.Response, part)
			}
		}
		h.recorded("terraform_data.a", "terraform_data.b")
	})
}
