package cli

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

// program is everything the commands know of the world around them. It is built
// once, by Main, and its flags are filled by cobra.
type program struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
	now     func() time.Time

	reach
	state string // --state-dir
	tofu  string // --program: tofu, terraform or a path
	theme string // --theme

	machine string // where the files of the machine are, "" for the usual place

	tools map[string]string // where a program was found by who ordered an act

	interrupts *interrupts // nil where nobody interrupts
	drawing    bool        // the terminal UI has the screen: nothing else may write to it
	linewise   bool        // asked to go line by line: nothing is drawn over
}

// getenv returns the last value of key, as the C library would.
func (p *program) getenv(key string) string {
	for i := len(p.environ) - 1; i >= 0; i-- {
		if kv := p.environ[i]; len(kv) > len(key) && kv[len(key)] == '=' && kv[:len(key)] == key {
			return kv[len(key)+1:]
		}
	}
	return ""
}

func (p *program) home() string {
	if home := p.getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	return ""
}

var errNoHome = errors.New("no place for handrail's files: HOME is not an absolute path")

// xdg returns handrail's folder under a base directory of the XDG specification,
// which says that a relative value is to be ignored.
func (p *program) xdg(key, fallback string) (string, error) {
	if dir := p.getenv(key); filepath.IsAbs(dir) {
		return filepath.Join(dir, "handrail"), nil
	}
	if home := p.home(); home != "" {
		return filepath.Join(home, fallback, "handrail"), nil
	}
	return "", &problem{code: ExitUsage, err: errNoHome, next: "set HOME or " + key}
}

// stateDir is where incidents, keys, acts and trust live.
func (p *program) stateDir() (string, error) {
	if p.state != "" {
		return filepath.Abs(p.state)
	}
	return p.xdg("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

func (p *program) incidents() (string, error) {
	dir, err := p.stateDir()
	return filepath.Join(dir, "incidents"), err
}

// interactive reports whether a person can see and answer: input and output are
// both a terminal.
// interactive says that there is a terminal that can be drawn on.
func (p *program) interactive() bool {
	return isTerminal(p.stdin) && isTerminal(p.stdout) && p.getenv("TERM") != "dumb"
}

func isTerminal(stream any) bool {
	f, ok := fileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fileOf is the file behind a stream, where there is one.
func fileOf(stream any) (*os.File, bool) {
	if s, ok := stream.(*scrubbed); ok {
		stream = s.w
	}
	if h, ok := stream.(harmless); ok {
		stream = h.w
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// version describes the build, as far as the go command recorded it.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() version {
	v := version{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
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

// without returns the environment less some variables.
func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, key)
	})
}
