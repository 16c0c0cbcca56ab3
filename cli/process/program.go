// Package process is what the commands know of the process that they run in: its
// streams and environment, the flags that every command has, the directories of
// the XDG Base Directory Specification, signals, the machine, and how to end.
//
// It promises four things. Data goes to stdout and is escaped where a terminal
// would act upon it; talk goes to stderr through [Scrubber], which takes known
// secrets out, and [Harmless], which shows control characters. An error is a
// [Problem]: what happened, the exit code and the next safe move; [ExitCode] is the
// one place where an error becomes a code. A program is found in absolute
// directories of PATH only, never in the working directory. What differs between
// operating systems stands in files named for them.
//
// It starts nothing, opens no bundle and asks no server.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// Program is everything the commands know of the world around them. It is built
// once, by Main, and its flags are filled by cobra.
type Program struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Now     func() time.Time

	Reach
	State string // --state-dir
	Tofu  string // --program: tofu, terraform or a path
	Theme string // --theme

	LabSource string // --lab-source: the clone that the lab is built from
	Document  string // kind of the document that the command prints with -o json

	ReadOnly bool // --readonly: no gate is armed

	Machine string // where the files of the machine are, "" for the usual place
	Dir     string // working directory, "" for that of the process

	Tools map[string]string // where a program was found by who ordered an act

	Interrupts *Interrupts // nil for none
	Drawing    bool        // the terminal UI has the screen: nothing else may write to it
	Linewise   bool        // asked to go line by line: nothing is drawn over
}

// Getenv returns the last value of key, as the C library would.
func (p *Program) Getenv(key string) string {
	for i := len(p.Environ) - 1; i >= 0; i-- {
		if kv := p.Environ[i]; len(kv) > len(key) && kv[len(key)] == '=' && kv[:len(key)] == key {
			return kv[len(key)+1:]
		}
	}
	return ""
}

func (p *Program) Home() string {
	if home := p.Getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	return ""
}

var errNoHome = errors.New("no place for handrail's files: HOME is not an absolute path")

// Xdg returns handrail's folder under a base directory of the XDG specification,
// which says that a relative value is to be ignored.
func (p *Program) Xdg(key, fallback string) (string, error) {
	if dir := p.Getenv(key); filepath.IsAbs(dir) {
		return filepath.Join(dir, "handrail"), nil
	}
	if home := p.Home(); home != "" {
		return filepath.Join(home, fallback, "handrail"), nil
	}
	return "", &Problem{Code: ExitUsage, Err: errNoHome, Next: "set HOME or " + key}
}

// WorkDir is the directory that handrail was started in.
func (p *Program) WorkDir() (string, error) {
	if p.Dir != "" {
		return p.Dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	return dir, nil
}

// StateDir is where incidents, keys, acts and trust live.
func (p *Program) StateDir() (string, error) {
	if p.State != "" {
		return filepath.Abs(p.State)
	}
	return p.Xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

func (p *Program) Incidents() (string, error) {
	dir, err := p.StateDir()
	return filepath.Join(dir, "incidents"), err
}

// Interactive reports whether a person can see and answer: input and output are
// both a terminal.
// interactive says that there is a terminal that can be drawn on.
func (p *Program) Interactive() bool {
	return IsTerminal(p.Stdin) && IsTerminal(p.Stdout) && p.Getenv("TERM") != "dumb"
}

func IsTerminal(stream any) bool {
	f, ok := FileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// FileOf is the file behind a stream, where there is one.
func FileOf(stream any) (*os.File, bool) {
	if s, ok := stream.(*Scrubber); ok {
		stream = s.W
	}
	if c, ok := stream.(calling); ok {
		stream = c.w
	}
	if h, ok := stream.(Harmless); ok {
		stream = h.W
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// version describes the build, as far as the go command recorded it.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// BuildVersion is stamped from the version control that the go command found; nothing else
// stamps it, so that a binary says of itself what it was built from.
func BuildVersion() version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) version {
	v := version{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) String() string {
	s := v.Version
	if v.Revision != "" {
		s += fmt.Sprintf(" (%.12s", v.Revision)
		if v.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s
}

// Without returns the environment less some variables.
func Without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, key)
	})
}

// ReadLine reads one line of what a person types, and nothing of what comes after.
func (p *Program) ReadLine() string {
	var line []byte
	for one := make([]byte, 1); len(line) < 1<<10; {
		n, err := p.Stdin.Read(one)
		if n == 1 && one[0] == '\n' || err != nil {
			break
		}
		line = append(line, one[:n]...)
	}
	return strings.TrimSpace(string(line))
}
