package holder

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Names of an environment that tell a part of a run from other processes. The
// rest of it holds secrets, and is not looked at.
const (
	cookieVariable = "TF_PLUGIN_MAGIC_COOKIE" // tofu gives it to its plugins, and they to their children
	dataVariable   = "TF_DATA_DIR"
)

// signs are what the environment of a process says of where it comes from.
type signs struct {
	pwd, old string // working directories of the shells before it
	data     string // TF_DATA_DIR
	space    string // TF_WORKSPACE
	cookie   bool   // of a plugin
	tool     bool   // the last program that a shell before it started is a tofu
	named    string // some other variable of tofu's, "" for none
}

// signsOf reads the environment of a process, as the kernel shows it.
func (t procTable) signsOf(p Process) (signs, error) {
	f, err := os.Open(filepath.Join(t.root, strconv.Itoa(p.PID), "environ"))
	if err != nil {
		return signs{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return signs{}, err
	}
	return parseSigns(raw), nil
}

func parseSigns(environ []byte) signs {
	var s signs
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(kv), "=")
		switch {
		case name == "PWD":
			s.pwd = value
		case name == "OLDPWD":
			s.old = value
		case name == "_":
			s.tool = toolName.MatchString(filepath.Base(value))
		case name == dataVariable:
			s.data = value
		case name == "TF_WORKSPACE":
			s.space = value
		case name == cookieVariable:
			s.cookie = true
		case name == "TF_IN_AUTOMATION", name == "TF_REATTACH_PROVIDERS", strings.HasPrefix(name, "TF_CLI_ARGS"), strings.HasPrefix(name, "TF_VAR_"):
			s.named = name
		}
	}
	return s
}

// tofus names a variable that shells pass on but only runs of tofu need, "" for
// none.
func (s signs) tofus() string {
	switch {
	case s.cookie:
		return cookieVariable
	case s.data != "":
		return dataVariable
	case s.space != "":
		return "TF_WORKSPACE"
	}
	return s.named
}

// openFile is one descriptor of a process.
type openFile struct {
	name  string // a path, or pipe:[inode] and the like
	fd    int
	write bool
	read  bool
}

// openFiles lists what a process has open.
func (t procTable) openFiles(p Process) ([]openFile, error) {
	dir := filepath.Join(t.root, strconv.Itoa(p.PID))
	entries, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return nil, err
	}
	var out []openFile
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		name, err := os.Readlink(filepath.Join(dir, "fd", e.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		f := openFile{name: name, fd: fd}
		f.read, f.write = t.modeOf(dir, e.Name())
		out = append(out, f)
	}
	return out, nil
}

// modeOf says what a descriptor was opened for; both where that cannot be read.
func (t procTable) modeOf(dir, fd string) (read, write bool) {
	raw, err := os.ReadFile(filepath.Join(dir, "fdinfo", fd))
	if err != nil {
		return true, true
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseInt(strings.TrimSpace(rest), 8, 64)
			if err != nil {
				return true, true
			}
			mode := flags & 3
			return mode != 1, mode == 1 || mode == 2
		}
	}
	return true, true
}

// readers are the pipes that some process reads from. all is false where some
// process may not be looked into: then a pipe without a reader proves nothing.
func (t procTable) readers() (pipes map[string]bool, all bool) {
	pipes, all = map[string]bool{}, true
	for _, p := range t.all {
		files, err := t.openFiles(p)
		if err != nil {
			all = all && errors.Is(err, fs.ErrNotExist)
			continue
		}
		for _, f := range files {
			if f.read && strings.HasPrefix(f.name, "pipe:[") {
				pipes[f.name] = true
			}
		}
	}
	return pipes, all
}
