package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/drills/lab"
)

// TestDemoTape plays the keys of demo.tape against the real program in a real
// terminal, so that the picture in the README cannot promise what is not there.
// Sleeps of the tape are played too: a gate ignores keys that come before a person
// can have seen it. What is on the screen at the end of each is a frame of the moving
// picture.
func TestDemoTape(t *testing.T) {
	t.Parallel()
	tape := readTape(t)
	home := demoHome(t)
	s := openScreen(t, home)
	// As `make demo` does: the drill is started and its lock was read once.
	s.send("printf '\\nq\\n' | handrail drill start killed-runner --plain\r")
	s.wait(command{re: regexp.MustCompile(`stays open`)})
	s.send("clear\r")
	var shots []shot
	typed := ""
	for _, c := range tape {
		switch c.verb {
		case "key":
			s.send(c.text)
			if c.text != "" {
				typed = c.text
			}
		case "phrase":
			s.send(s.lockID())
			typed = placeholder
		case "wait":
			s.wait(c)
			typed = ""
		case "sleep":
			s.pause(c.pause)
			shots = append(shots, s.shoot(c.pause, typed == placeholder))
		}
	}
	compareMoving(t, shots)
}

func readTape(t *testing.T) []command {
	t.Helper()
	src, err := os.ReadFile("../demo.tape")
	if err != nil {
		t.Fatal(err)
	}
	tape, err := parseTape(string(src))
	if err != nil {
		t.Fatal(err)
	}
	return tape
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

// pictured is the home of the person in the picture: its paths are read by strangers.
const pictured = "/tmp/oncall"

// demoHome is a home of its own with handrail on PATH.
func demoHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if *update {
		if err := os.MkdirAll(pictured, 0o700); err != nil {
			t.Fatal(err)
		}
		home = pictured
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(home, "bin", "handrail")); err != nil {
		t.Fatal(err)
	}
	return home
}

// labCache is the cache directory of every home, with the programs that were built
// and one lab: each test has a drill of its own in it. TestMain ends it.
var labCache = sync.OnceValues(func() (string, error) {
	built, err := lab.Build(context.Background(), lab.Options{})
	if err != nil {
		return "", err
	}
	cache := filepath.Join(pictured, ".cache")
	if *update {
		err = os.MkdirAll(cache, 0o700)
	} else {
		cache, err = os.MkdirTemp("", "handrail-cli-")
	}
	if err != nil {
		return "", err
	}
	own := filepath.Join(cache, "handrail")
	if err := os.Mkdir(own, 0o700); err != nil {
		return "", err
	}
	shared := filepath.Dir(filepath.Dir(built["cluster"])) // bin/<key>/<program>
	return cache, os.Symlink(shared, filepath.Join(own, "bin"))
})

// usesLab is the setting that leads to the lab of the tests.
func usesLab(t *testing.T) string {
	t.Helper()
	cache, err := labCache()
	if err != nil {
		t.Fatal(err)
	}
	labUsed.Store(true)
	return "XDG_CACHE_HOME=" + cache
}

var labUsed atomic.Bool

// withLab runs the tests, and ends the lab that they shared.
type withLab struct{ *testing.M }

func (w withLab) Run() int {
	code := w.M.Run()
	if !labUsed.Load() {
		return code
	}
	cache, err := labCache()
	if err == nil {
		err = lab.Down(context.Background(), lab.Options{Cache: filepath.Join(cache, "handrail")})
	}
	if err := errors.Join(err, os.RemoveAll(cache), os.RemoveAll(pictured)); err != nil {
		fmt.Fprintln(os.Stderr, "ending the lab:", err)
		return max(code, 1)
	}
	return code
}

// patience is how long the slowest step of the demo, the start of a lab on a
// loaded machine, may take before the player gives up.
const patience = 5 * time.Minute

// A phrase that is wider than the gate goes on in the next line.
var shownID = regexp.MustCompile(`force-unlock[\s║]+([0-9a-f]{8})\b`)

// lockID reads the id off the screen, as a person would.
func (s *screen) lockID() string {
	s.t.Helper()
	m := shownID.FindStringSubmatch(s.text())
	if m == nil {
		s.t.Fatalf("no phrase is on the screen\n%s", s.text())
	}
	return m[1]
}
