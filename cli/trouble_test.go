package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"handrail/cli/process"
	"handrail/triage"
)

// TestInterruptions ends the terminal, the person's patience and the process
// itself while the real tofu is at work on the real API server.
func TestInterruptions(t *testing.T) {
	t.Parallel()
	home := demoHome(t)
	newPractice(t, home).run(process.ExitDone, "", "lab", "up")
	for name, f := range map[string]func(*testing.T, *practice){
		"handrail killed in the act":  killedBesideTheAct,
		"act killed before it landed": func(t *testing.T, p *practice) { killedInTheAct(t, p, false) },
		"act killed after it landed":  func(t *testing.T, p *practice) { killedInTheAct(t, p, true) },
		"ctrl-c headless":             interruptedHeadless,
		"terminal closed":             func(t *testing.T, p *practice) { leftInTheAct(t, p, hangUp) },
		"ctrl-c in the terminal":      func(t *testing.T, p *practice) { leftInTheAct(t, p, ctrlC) },
		"credentials expired":         expiredCredentials,
		"another object meanwhile":    racedInTheDialogue,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, newPractice(t, home)) })
	}
}

const unlock = "state-lock/unlock"

// call is an incident outside the drill that looks at its broken module, with a
// tofu that can be held up.
func call(t *testing.T, p *practice, h *holdup) (q *practice, lockID string, run []string) {
	t.Helper()
	lockID = p.breaks()
	q = p.elsewhere("TF_INPUT=0", "CHECKPOINT_DISABLE=1")
	q.run(process.ExitDone, "", "trust", p.dir())
	run = []string{"run", "state-lock", "-p", "dir=" + p.dir(), "-p", "log=" + p.log(), "--answers", q.answers(lockID)}
	if h != nil {
		run = append(run, "--tofu", h.path)
	}
	return q, lockID, run
}

// executor is the process that carries out the newest act of the practice, and
// the file that it holds locked while it lives.
func (p *practice) executor() (pid int, claim string) {
	p.t.Helper()
	claims, err := filepath.Glob(filepath.Join(p.state, "handrail", "acts", "*", "*", "claim"))
	if err != nil || len(claims) != 1 {
		p.t.Fatalf("claims = %v, %v, want one act", claims, err)
	}
	b, err := os.ReadFile(claims[0])
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return pid, claims[0]
}

// over waits until an executor has ended.
func over(t *testing.T, claim string) {
	t.Helper()
	l := flock.New(claim, flock.SetFlag(os.O_RDONLY))
	if err := l.RLock(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// killedBesideTheAct kills handrail with its act under way: the act goes on in
// its own process, is found there by resume, and nothing of its end is lost.
func killedBesideTheAct(t *testing.T, p *practice) {
	h := p.hold("force-unlock", false)
	q, lockID, run := call(t, p, h)
	r := q.launch(run...)
	h.reached(t, r.ended, r.said.String)
	_, claim := q.executor()
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	path := q.bundle()
	before := journalOf(t, path)
	s, cmd := q.tty(34, 110, "resume", "--plain", "--tofu", h.path)
	s.wait(command{re: regexp.MustCompile(`unlock \(act\): Ctrl-C leaves`)})
	s.send("\x03")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != process.ExitOpen {
		t.Errorf("the resume ended with %v, want %d", err, process.ExitOpen)
	}
	if g := q.folded(path).Gates[unlock]; g.Phase != triage.GateActing {
		t.Fatalf("gate = %s, want it acting still:\n%s", g.Phase, s.text())
	}
	h.release(t)
	over(t, claim)
	q.run(process.ExitDone, "", "resume", "--answers", run[7], "--tofu", h.path)
	g := q.folded(path).Gates[unlock]
	if g.Phase != triage.GateDone || g.Found || !strings.Contains(g.Response, "unlocked") {
		t.Fatalf("gate = %s, %q, found %v, want the outcome that tofu gave for %s", g.Phase, g.Response, g.Found, lockID)
	}
	if !bytes.HasPrefix(journalOf(t, path), before) {
		t.Error("what the journal held at the kill has changed")
	}
	q.sound(path)
}

// killedInTheAct kills handrail and the executor with the act under way. What
// the act came to is unknown until the target was read, and no gate opens before.
func killedInTheAct(t *testing.T, p *practice, landed bool) {
	h := p.hold("force-unlock", landed)
	q, lockID, run := call(t, p, h)
	r := q.launch(run...)
	h.reached(t, r.ended, r.said.String)
	if err := r.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	pid, claim := q.executor()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	over(t, claim)
	path := q.bundle()
	before := journalOf(t, path)
	if st := q.folded(path); st.Acting != unlock {
		t.Fatalf("acting = %q, want the unlock: its start was recorded before anything was sent", st.Acting)
	}
	out := q.run(process.ExitOpen, "q\n", "resume", "--plain")
	if g := q.folded(path).Gates[unlock]; g.Phase != triage.GateUnknown || !strings.Contains(out, "unknown") {
		t.Fatalf("gate = %s, want unknown, and said so:\n%s", g.Phase, out)
	}
	out = q.run(process.ExitOpen, "\nq\n", "resume", "--plain")
	g := q.folded(path).Gates[unlock]
	want := triage.GateFailed
	if landed {
		want = triage.GateDone
	}
	if g.Phase != want || !strings.Contains(g.Response, lockID) {
		t.Fatalf("gate = %s, %q, want %s by a look at the lock:\n%s", g.Phase, g.Response, want, out)
	}
	if landed != (len(q.folded(path).Debts) == 1) {
		t.Errorf("debts = %+v", q.folded(path).Debts)
	}
	if !bytes.HasPrefix(journalOf(t, path), before) {
		t.Error("what the journal held at the kill has changed")
	}
	q.sound(path)
	if landed {
		q.run(process.ExitDone, "", "resume", "--answers", run[7], "--tofu", h.path)
		q.sound(path)
	}
}

// interruptedHeadless sends Ctrl-C to a whole job, first in the act, then in a
// probe: the act goes on and the next walk records its end, the probe is cut off
// and read again by the one after.
func interruptedHeadless(t *testing.T, p *practice) {
	h := p.hold("force-unlock", false)
	q, _, run := call(t, p, h)
	r := q.launch(run...)
	h.reached(t, r.ended, r.said.String)
	r.interrupt(t)
	r.interrupt(t) // an impatient one
	_, claim := q.executor()
	if code := r.code(); code != process.ExitOpen {
		t.Fatalf("Ctrl-C in an act ended with %d, want %d:\n%s", code, process.ExitOpen, r.said.String())
	}
	path := q.bundle()
	if said := r.said.String(); !strings.Contains(said, "handrail resume ") || !strings.Contains(said, "a running act goes on by itself") {
		t.Errorf("nothing says how to go on, or what becomes of the act:\n%s", said)
	}
	h.release(t)
	over(t, claim)

	slow := p.hold("plan", false)
	resume := []string{"resume", "--answers", run[7], "--tofu", slow.path}
	r = q.launch(resume...)
	slow.reached(t, r.ended, r.said.String)
	r.interrupt(t)
	if code := r.code(); code != process.ExitOpen {
		t.Fatalf("Ctrl-C in a probe ended with %d, want %d:\n%s", code, process.ExitOpen, r.said.String())
	}
	plan, _ := q.folded(path).Step("state-lock/plan")
	if plan.Outcome != "cancelled" || plan.Facts["exit"].Known() {
		t.Fatalf("plan = %s, exit %+v, want it cancelled with unknown facts", plan.Outcome, plan.Facts["exit"])
	}
	if g := q.folded(path).Gates[unlock]; g.Phase != triage.GateDone {
		t.Fatalf("gate = %s (%s), want done: Ctrl-C does not stop an act\n%s", g.Phase, g.Response, r.said.String())
	}
	q.sound(path)
	q.run(process.ExitDone, "", resume...)
	if plan, _ := q.folded(path).Step("state-lock/plan"); plan.Outcome != "ok" {
		t.Errorf("plan = %s, want it read again", plan.Outcome)
	}
	q.sound(path)
}

func hangUp(t *testing.T, s *screen) {
	t.Helper()
	if err := s.pty.Close(); err != nil {
		t.Fatal(err)
	}
}

func ctrlC(t *testing.T, s *screen) {
	t.Helper()
	s.send("\x03")
	s.wait(command{re: regexp.MustCompile(`leave, the act continues`)})
	s.send("y")
	s.wait(command{re: regexp.MustCompile(`The act .* continues`)})
}

// leftInTheAct leaves the terminal UI while its act is under way.
func leftInTheAct(t *testing.T, p *practice, leave func(*testing.T, *screen)) {
	h := p.hold("force-unlock", false)
	q, lockID, run := call(t, p, h)
	file := run[7]
	drop(t, file, "gates:", "  unlock:") // the script stops before the gate
	q.run(process.ExitOpen, "", run...)
	s, cmd := q.tty(34, 110, "resume", "--tofu", h.path)
	s.wait(command{re: regexp.MustCompile(`Release the lock`)})
	s.send("g")
	s.wait(command{re: regexp.MustCompile(`Only looked at`)})
	s.pause(500 * time.Millisecond) // keys for the screen below are swallowed so long
	s.send("\r")
	s.wait(command{re: regexp.MustCompile(`DANGER +· +ARMED`)})
	s.phrase("force-unlock " + lockID[:8])
	s.send("\r")
	h.reached(t, s.ended, s.text)
	_, claim := q.executor()
	leave(t, s)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != process.ExitOpen {
		t.Errorf("handrail ended with %v, want %d", err, process.ExitOpen)
	}
	h.release(t)
	over(t, claim)
	q.run(process.ExitOpen, "q\n", "resume", "--plain")
	path := q.bundle()
	st := q.folded(path)
	if g := st.Gates[unlock]; g.Phase != triage.GateDone || g.Response == "" {
		t.Fatalf("gate = %s, %q, want the outcome of the act in the journal", g.Phase, g.Response)
	}
	q.sound(path)
	q.run(process.ExitDone, "", "resume", "--answers", file, "--tofu", h.path)
	q.sound(path)
}

// expiredCredentials walks with a token that the real API server does not know.
func expiredCredentials(t *testing.T, p *practice) {
	q, _, run := call(t, p, nil)
	q.env = append(q.env, "KUBE_TOKEN=nobody")
	out := q.run(process.ExitOpen, "", run...)
	st := q.folded(q.bundle())
	lock, _ := st.Step("state-lock/lock")
	if lock.Outcome == "ok" || lock.Facts["held"].Known() || !strings.Contains(out, "401") {
		t.Errorf("lock = %+v, want unknown facts and the 401:\n%s", lock, out)
	}
	if g := st.Gates[unlock]; g.Phase != "" && g.Phase != triage.GateIdle {
		t.Errorf("gate = %s, want it shut", g.Phase)
	}
	q.sound(q.bundle())
}
