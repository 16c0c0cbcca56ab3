package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"handrail/drills/lab"
)

// TestDemoTape plays the keys of demo.tape against the real program in a real
// terminal, so that the picture in the README cannot promise what is not there.
// Sleeps of the tape are played too: a gate ignores keys that come before a person
// can have seen it.
func TestDemoTape(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../demo.tape")
	if err != nil {
		t.Fatal(err)
	}
	tape, err := parseTape(string(src))
	if err != nil {
		t.Fatal(err)
	}
	home := demoHome(t)
	s := openScreen(t, home)
	// As `make demo` does: the drill is started and its lock was read once.
	s.send("printf '\\nq\\n' | handrail drill start killed-runner --plain\r")
	s.wait(command{re: regexp.MustCompile(`stays open`)})
	s.send("clear\r")
	for _, c := range tape {
		switch c.verb {
		case "key":
			s.send(c.text)
		case "phrase":
			s.send(s.lockID())
		case "wait":
			s.wait(c)
		case "sleep":
			s.pause(c.pause)
		}
	}
}

// command is one line of a tape, as far as it matters to the player.
type command struct {
	verb  string // key, phrase, wait or sleep
	text  string
	re    *regexp.Regexp
	pause time.Duration
	line  int
}

var (
	tapeKeys = map[string]string{"Enter": "\r", "Escape": "\x1b", "Tab": "\t", "Space": " ", "Backspace": "\x7f",
		"Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "PageDown": "\x1b[6~", "PageUp": "\x1b[5~"}
	tapeType = regexp.MustCompile(`^Type(?:@\S+)? "(.*)"$`)
	tapeWait = regexp.MustCompile(`^Wait\+Screen(?:@\S+)? /(.+)/$`)
	tapeCtrl = regexp.MustCompile(`^Ctrl\+([A-Z])$`)
)

// placeholder stands in the tape for the id of the lock, which every drill makes
// anew.
const placeholder = "LOCK_ID"

func parseTape(src string) ([]command, error) {
	var out []command
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		word, _, _ := strings.Cut(line, " ")
		base, _, _ := strings.Cut(word, "@")
		switch {
		case line == "" || line[0] == '#', base == "Set", base == "Output", base == "Require",
			base == "Hide", base == "Show", base == "Screenshot":
		case base == "Sleep":
			d, err := time.ParseDuration(strings.TrimSpace(strings.TrimPrefix(line, "Sleep")))
			if err != nil {
				return nil, fmt.Errorf("demo.tape:%d: %w", i+1, err)
			}
			out = append(out, command{verb: "sleep", pause: d, line: i + 1})
		case tapeType.MatchString(line):
			text := tapeType.FindStringSubmatch(line)[1]
			before, after, found := strings.Cut(text, placeholder)
			out = append(out, command{verb: "key", text: before, line: i + 1})
			if found {
				out = append(out, command{verb: "phrase", line: i + 1}, command{verb: "key", text: after, line: i + 1})
			}
		case tapeWait.MatchString(line):
			re, err := regexp.Compile(tapeWait.FindStringSubmatch(line)[1])
			if err != nil {
				return nil, fmt.Errorf("demo.tape:%d: %w", i+1, err)
			}
			out = append(out, command{verb: "wait", re: re, line: i + 1})
		case tapeCtrl.MatchString(line):
			out = append(out, command{verb: "key", text: string(rune(tapeCtrl.FindStringSubmatch(line)[1][0] - '@')), line: i + 1})
		case tapeKeys[base] != "":
			n := 1
			if fields := strings.Fields(line); len(fields) == 2 {
				var err error
				if n, err = strconv.Atoi(fields[1]); err != nil {
					return nil, fmt.Errorf("demo.tape:%d: %w", i+1, err)
				}
			}
			out = append(out, command{verb: "key", text: strings.Repeat(tapeKeys[base], n), line: i + 1})
		default:
			return nil, fmt.Errorf("demo.tape:%d: %q is not known to the player", i+1, line)
		}
	}
	return out, nil
}

// demoHome is a home of its own with handrail on PATH, and a lab of its own that
// shares the built programs.
func demoHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	built, err := lab.Build(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Dir(filepath.Dir(built["cluster"])) // bin/<key>/<program>
	for _, dir := range []string{"bin", "cache/handrail"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{self: "bin/handrail", shared: "cache/handrail/bin"} {
		if err := os.Symlink(from, filepath.Join(home, to)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		o := lab.Options{Cache: filepath.Join(home, "cache", "handrail")}
		if err := lab.Down(context.Background(), o); err != nil {
			t.Error(err)
		}
	})
	return home
}

// screen is a shell in a pty and what a person would see of it.
type screen struct {
	t   *testing.T
	pty *os.File

	mu      sync.Mutex
	term    *vt.Emulator
	raw     []byte // all that was written to the terminal
	changed chan struct{}
	ended   chan struct{}
}

func openScreen(t *testing.T, home string) *screen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile")
	cmd.Dir = ".."
	cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TERM=xterm-256color",
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "PS1=$ ", "LC_ALL=C.UTF-8", "GOPATH=" + os.Getenv("GOPATH")}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 34, Cols: 110})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, pty: f, term: vt.NewEmulator(110, 34), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	var work sync.WaitGroup
	work.Go(s.show)
	work.Go(func() { // what the terminal answers to questions of the program
		b := make([]byte, 1024)
		for {
			n, err := s.term.Read(b)
			if err != nil {
				return
			}
			_, _ = f.Write(b[:n]) // the program may have ended
		}
	})
	t.Cleanup(func() {
		_ = f.Close()
		_ = cmd.Process.Kill() // it has usually ended with its terminal
		_ = cmd.Wait()
		<-s.ended
		_ = s.term.Close()
		work.Wait()
	})
	return s
}

func (s *screen) show() {
	defer close(s.ended)
	b := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(b)
		s.mu.Lock()
		_, _ = s.term.Write(b[:n]) // an emulator does not fail
		s.raw = append(s.raw, b[:n]...)
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.String()
}

// written is all that was written to the terminal so far.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func (s *screen) send(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatalf("typing %q: %v\n%s", keys, err, s.text())
	}
}

// patience is how long the slowest step of the demo, the start of a lab on a
// loaded machine, may take before the player gives up.
const patience = 5 * time.Minute

// wait returns when the screen shows what the tape waits for.
func (s *screen) wait(c command) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for !c.re.MatchString(s.text()) {
		select {
		case <-s.changed:
		case <-s.ended:
			s.t.Fatalf("demo.tape:%d: the terminal ended before it showed /%s/\n%s", c.line, c.re, s.text())
		case <-ctx.Done():
			s.t.Fatalf("demo.tape:%d: the screen never showed /%s/\n%s", c.line, c.re, s.text())
		}
	}
}

// pause lets time pass as the tape says; nothing is asserted about it.
func (s *screen) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.t.Context().Done():
	}
}

var shownID = regexp.MustCompile(`force-unlock ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)

// lockID reads the id off the screen, as a person would.
func (s *screen) lockID() string {
	s.t.Helper()
	m := shownID.FindStringSubmatch(s.text())
	if m == nil {
		s.t.Fatalf("no phrase is on the screen\n%s", s.text())
	}
	return m[1]
}
