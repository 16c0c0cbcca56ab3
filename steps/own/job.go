package own

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
)

// job is one start of a program.
type job struct {
	path     string
	argv     []string
	env      []string
	dir      string // in which it runs
	shown    string // the directory that was asked for, "" for none
	private  string
	home     string   // that it may not read, "" where it may
	readable []string // what it may read
	confined confined
}

// job prepares the run of argv: where the program is, what it is given, and a private
// directory, which end removes.
func (p execProbe) job(in steps.Params, argv []string) (*job, error) {
	j := &job{argv: argv}
	if dir := in.Text("dir"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.env.Dir, dir)
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("directory of the program: %w", err)
		}
		if p.env.Trusted == nil {
			return nil, fmt.Errorf("directory %s is not trusted: programs run in trusted directories only", real)
		}
		if err := p.env.Trusted(real); err != nil {
			return nil, fmt.Errorf("directory %s is not trusted: %w", real, err)
		}
		j.dir, j.shown = real, real
	}
	var err error
	if j.path, err = p.find(argv[0], j.shown); err != nil {
		return nil, err
	}
	if j.private, err = p.makePrivate(); err != nil {
		return nil, err
	}
	if j.dir == "" {
		j.dir = j.private
	}
	named := in["env"].Strings()
	if j.env, err = p.environ(named, j.private); err != nil {
		j.end()
		return nil, err
	}
	hide := []string{"/dev", "/run/secrets", "/var/run/secrets", p.env.Private}
	if !slices.Contains(named, "HOME") {
		hide = append(hide, p.env.Home)
		j.home = p.env.Home
	}
	j.readable = append(readable(hide), j.path, j.dir)
	return j, nil
}

// makePrivate makes the one directory in which the program may write.
func (p execProbe) makePrivate() (string, error) {
	in := p.env.Private // it goes with the incident at the latest
	if in != "" && os.MkdirAll(in, 0o700) != nil {
		in = ""
	}
	dir, err := os.MkdirTemp(in, "run-")
	if err != nil {
		return "", fmt.Errorf("private directory of the program: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// end removes what the program left behind.
func (j *job) end() {
	if j.private != "" {
		// What it took the rights off is given them back, to be removed.
		_ = filepath.WalkDir(j.private, func(path string, d os.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(j.private)
	}
}

// find returns the path of a program: as named where that is a path, below dir where it
// is a relative one, else in the absolute entries of PATH. A file below dir that can be
// run counts for the trust in dir, whatever it is called.
func (p execProbe) find(name, dir string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return runnable(name)
	case strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/'):
		if dir == "" {
			return "", fmt.Errorf("program %q: a path from a directory needs dir, which is trusted with all its files", name)
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", fmt.Errorf("program: %w", err)
		}
		if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) || slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git") {
			return "", fmt.Errorf("program %q leads out of what was trusted of %s", name, dir)
		}
		f, err := os.Open(real) // what cannot be read was not looked at either
		if err != nil {
			return "", fmt.Errorf("program: %w", err)
		}
		_ = f.Close()
		return runnable(real)
	}
	for _, at := range filepath.SplitList(p.env.Getenv("PATH")) {
		if !filepath.IsAbs(at) {
			continue // it would mean another program in each directory
		}
		if path, err := runnable(filepath.Join(at, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q in PATH: install it, or name it by its path", name)
}

func runnable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("program: %w", err)
	case !info.Mode().IsRegular() || !executable(info):
		return "", fmt.Errorf("program %s is not an executable file", path)
	}
	return path, nil
}

// environ makes the environment from scratch: what programs need to run, and what the
// step names. A variable that is named and not set is an error, for a program without
// its credentials tells of something else.
func (p execProbe) environ(named []string, private string) ([]string, error) {
	out := []string{"TMPDIR=" + private}
	if !slices.Contains(named, "HOME") {
		out = append(out, "HOME="+private)
	}
	have := map[string]string{}
	for _, kv := range p.env.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			have[name] = value
		}
	}
	usual := []string{"PATH", "LANG", "TZ", "USER", "LOGNAME"}
	for name := range have {
		if strings.HasPrefix(name, "LC_") {
			usual = append(usual, name)
		}
	}
	slices.Sort(usual[5:])
	for _, name := range usual {
		if value, ok := have[name]; ok && !slices.Contains(named, name) && name != "TMPDIR" {
			out = append(out, name+"="+value)
		}
	}
	for _, name := range named {
		value, ok := have[name]
		if !ok {
			return nil, fmt.Errorf("the variable %s, which the step hands to the program, is not set: set it, then read again", name)
		}
		if name != "TMPDIR" {
			out = append(out, name+"="+value)
		}
	}
	return out, nil
}

// typed is the command that a person could type.
func (j *job) typed(argv []string) string {
	if j.shown == "" {
		return quoted(argv)
	}
	return "cd " + steps.Quote(j.shown) + " && " + quoted(argv)
}

// hint says where a program may have failed because it is kept from what it needs.
func (j *job) hint(r result) string {
	text := strings.ToLower(said(r))
	switch {
	case !j.confined.in.whole():
		return ""
	case j.home != "" && strings.Contains(text, strings.ToLower(j.home)):
		return ". It may not read your home: env: [HOME] lets it"
	case strings.Contains(text, "permission denied") || strings.Contains(text, "operation not permitted") || strings.Contains(text, "read-only"):
		return ". It writes to its private directory alone ($TMPDIR), and reads your home only with env: [HOME]"
	}
	return ""
}
