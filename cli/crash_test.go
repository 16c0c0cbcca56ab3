package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"handrail/cli/process"
	"handrail/session/journal"
	"handrail/triage"
)

// TestCrashes kills the real program in the middle of real incidents.
func TestCrashes(t *testing.T) {
	t.Parallel()
	home := demoHome(t)
	newPractice(t, home).run(process.ExitDone, "", "lab", "up")
	t.Run("headless", func(t *testing.T) { t.Parallel(); killedHeadless(t, newPractice(t, home)) })
	t.Run("terminal", func(t *testing.T) { t.Parallel(); killedInTerminal(t, newPractice(t, home)) })
}

// reference is seen from the root of the clone, where the programs start.
const reference = "drills/library/killed-runner.answers.yaml"

// killedHeadless kills one walk over and over, every few entries, until a resume
// comes to the close. Whatever the journal held at a kill stays, byte by byte,
// and folds to the same state.
func killedHeadless(t *testing.T, p *practice) {
	type cut struct {
		journal []byte
		state   triage.State
	}
	var cuts []cut
	said := ""
	args := []string{"drill", "run", "killed-runner", "--auto"}
	for entries := 5; len(cuts) < 8 && (len(cuts) == 0 || cuts[len(cuts)-1].state.Phase != triage.Verify); {
		r := p.launch(args...)
		p.until("the next kill", r.ended, r.said.String, func(j []byte) bool { return bytes.Count(j, []byte("\n")) >= entries })
		_ = r.cmd.Process.Signal(syscall.SIGKILL) // it may just have ended
		<-r.ended
		said += r.said.String() + "cut\n"
		path := p.bundle()
		written := journalOf(t, path)
		now := cut{written[:bytes.LastIndexByte(written, '\n')+1], p.folded(path)}
		t.Logf("kill %d at entry %d, in %s", len(cuts)+1, now.state.Seq, now.state.Phase)
		if len(now.journal) == len(written) { // else its last write was torn, and the next resume mends it
			p.sound(path)
		}
		acknowledged(t, said, now.journal)
		for _, c := range cuts {
			if !bytes.HasPrefix(now.journal, c.journal) {
				t.Fatal("what the journal held when handrail was killed has changed")
			}
			if again := prefix(t, path, c.state.Seq); !again.Equal(c.state) {
				t.Fatalf("the same entries fold to another state: %s, want %s", triage.Digest(again), triage.Digest(c.state))
			}
		}
		cuts = append(cuts, now)
		if now.state.Outcome != "" {
			t.Fatalf("the walk was not cut off:\n%s", said)
		}
		entries = bytes.Count(now.journal, []byte("\n")) + 1 + len(cuts)
		args = []string{"resume", "--answers", reference}
	}
	out := p.run(process.ExitDone, "", args...)
	if !strings.Contains(out, "The drill is won.") {
		t.Errorf("the drill is not won:\n%s", out)
	}
	p.sound(p.bundle())
}

// prefix folds the entries of a bundle up to seq.
func prefix(t *testing.T, path string, seq int64) triage.State {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.CopyFS(dir, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, journalFile)
	lines := bytes.SplitAfter(journalOf(t, dir), []byte("\n"))
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Join(lines[:seq+1], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := journal.LoadState(dir)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A walk says what it is about to do, and goes on to the next when that is
// durable: each of these lines that another one follows is acknowledged.
var told = map[string]*regexp.Regexp{
	`"type":"waive"`:         regexp.MustCompile(`^waive law `),
	`"type":"answer"`:        regexp.MustCompile(`^answer state-lock/`),
	`"type":"conclude"`:      regexp.MustCompile(`^conclude `),
	`"type":"probe.start"`:   regexp.MustCompile(`^read state-lock/`),
	`"type":"gate.shown"`:    regexp.MustCompile(`^preview state-lock/unlock`),
	`"type":"gate.answered"`: regexp.MustCompile(`^confirm state-lock/unlock`),
	`"type":"settle"`:        regexp.MustCompile(`^debt unfinished`),
}

func acknowledged(t *testing.T, said string, journal []byte) {
	t.Helper()
	lines := strings.Split(said, "\n")
	for mark, re := range told {
		n := 0
		for i, l := range lines {
			if re.MatchString(l) && i+1 < len(lines) && lines[i+1] != "cut" {
				n++
			}
		}
		if got := bytes.Count(journal, []byte(mark)); got < n {
			t.Errorf("%d times %s was acknowledged, the journal holds %d:\n%s", n, mark, got, said)
		}
	}
}

// killedInTerminal kills the terminal UI after what it showed as recorded, and
// finds the same in a resume, which goes on to the close.
func killedInTerminal(t *testing.T, p *practice) {
	p.breaks()
	s, cmd := p.tty(34, 110, "resume")
	s.wait(command{re: regexp.MustCompile(`enter  Read all`)})
	s.send("\r")
	s.wait(command{re: regexp.MustCompile(`✓ state`)})
	s.send("t")
	s.wait(command{re: regexp.MustCompile(`(?i)note`)})
	s.send("the runner is gone for good\r")
	p.until("the note", s.ended, s.text, func(j []byte) bool { return bytes.Contains(j, []byte("gone for good")) })
	s.wait(command{re: regexp.MustCompile(`enter  Say these 7: `)})
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	path := p.bundle()
	before, state := journalOf(t, path), p.folded(path)
	p.sound(path)
	if st, _ := state.Step("state-lock/state"); st.Status != triage.Settled {
		t.Errorf("the read that the screen showed as done is %s", st.Status)
	}
	again, _ := p.tty(34, 110, "resume")
	again.wait(command{re: regexp.MustCompile(`(?s)▸ ● ci_run .*enter  Say these 7: ci_run`)})
	again.send("q")
	again.wait(command{re: regexp.MustCompile(`stays open`)})
	<-again.ended
	more, ok := bytes.CutPrefix(journalOf(t, path), before)
	if !ok {
		t.Fatal("what the journal held at the kill has changed")
	}
	for l := range bytes.Lines(more) {
		// What it is resumed with and on is written down; nothing else happened.
		if !bytes.Contains(l, []byte(`"type":"env"`)) || !bytes.Contains(l, []byte(`"data":{"context":`)) {
			t.Errorf("a resume of an incident in which nothing ran added to its journal:\n%s", l)
		}
	}
	out := p.run(process.ExitDone, "", "resume", "--answers", reference)
	if !strings.Contains(out, "The drill is won.") {
		t.Errorf("the drill is not won:\n%s", out)
	}
	if !bytes.HasPrefix(journalOf(t, path), before) {
		t.Error("what the journal held at the kill has changed")
	}
	p.sound(path)
}
