package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// patience is how long the slowest step of the demo, the start of a lab on a
// loaded machine, may take before the player gives up.
const patience = 5 * time.Minute

// A phrase that is wider than the gate goes on in the next line.
var shownID = regexp.MustCompile(`force-unlock[\s║]+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)

// lockID reads the id off the screen, as a person would.
func (s *screen) lockID() string {
	s.t.Helper()
	m := shownID.FindStringSubmatch(s.text())
	if m == nil {
		s.t.Fatalf("no phrase is on the screen\n%s", s.text())
	}
	return m[1]
}
