// Package closure tells what decides what a program does in a root module: every
// file below it, every module that init has recorded wherever it lies, the
// settings that init has saved, the packages of its providers, and files named
// beside them. To trust a directory is to trust its closure as it is.
//
// What an incident changes and no program is started from is left out: states
// and the descriptions of their locks, saved plans, logs, the marker of a pause,
// what editors leave. Such a file counts all the same once it could be run: it is
// executable, begins as a script does, or a file of the closure runs it.
//
// Links that lead out of the closure are refused. A repository's .git is no part
// of it: no tofu reads it.
package closure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where a closure begins.
type Place struct {
	Root   string   // the root module, absolute, without links
	Data   string   // .terraform, or what stands for it
	Beside []string // files that count wherever they lie; one that is absent counts as absent
}

// Closure is what was found: the name of each file, below the root or absolute,
// and what it holds.
type Closure struct {
	Files     map[string]string // name to the hex SHA-256, or to what it is instead
	Programs  []string          // that the configuration says it starts, as it writes them
	Addresses []string          // that the configuration writes out
	Modules   int               // configuration files
}

// What stands for a file that has no digest.
const (
	Absent     = "absent"
	Unreadable = "unreadable"
)

// The bounds of a closure.
const (
	MaxFiles = 50_000
	MaxBytes = 2 << 30
)

// walker gathers a closure.
type walker struct {
	Place
	data  string            // Data without links
	trees []string          // what is walked: the root, the data directory, modules
	files map[string]string // name to path
	links map[string]string // name to what the link says
	sums  map[string]string // name to what stands instead of a digest
	may   map[string]string // name to path of what an incident changes
	read  int64
	locks map[string]bool // provider/version whose package tofu holds to a checksum
}

// Of reads the closure of a place. It runs nothing.
func Of(p Place) (Closure, error) {
	w := &walker{Place: p, files: map[string]string{}, links: map[string]string{}, sums: map[string]string{}, may: map[string]string{}, locks: lockedPackages(p.Root)}
	if err := w.plant(); err != nil {
		return Closure{}, err
	}
	for _, tree := range w.trees {
		if err := w.walk(tree); err != nil {
			return Closure{}, err
		}
	}
	for _, name := range append([]string{filepath.Join(p.Data, "terraform.tfstate"), filepath.Join(p.Data, "environment")}, p.Beside...) {
		if err := w.beside(name); err != nil {
			return Closure{}, err
		}
	}
	return w.digest()
}

// name is how a file is called in the closure.
func (w *walker) name(path string) string {
	if rel, err := filepath.Rel(w.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// modules is what init records of the modules of a configuration.
type modules struct {
	Modules []struct{ Dir string }
}

// plant finds the trees of the closure, the outermost of those that lie in each
// other.
func (w *walker) plant() error {
	w.trees = []string{w.Root}
	w.data = w.tree(w.Data)
	name := filepath.Join(w.Data, "modules", "modules.json")
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list modules
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return fmt.Errorf("modules of %q: %w; run tofu init there yourself", w.Root, err)
	}
	for _, m := range list.Modules {
		dir := m.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(w.Root, dir)
		}
		real := w.tree(dir)
		if clean := filepath.Clean(dir); real != clean {
			w.sums["module "+w.name(clean)] = real
		}
	}
	return nil
}

// tree adds a directory to what is walked, and returns where it really is, or
// that it is absent.
func (w *walker) tree(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Absent
	}
	if !slices.ContainsFunc(w.trees, func(t string) bool { return within(real, t) }) {
		w.trees = append(w.trees, real)
	}
	return real
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// closed reports whether a path is read in one of the trees.
func (w *walker) closed(path string) bool {
	return slices.ContainsFunc(w.trees, func(t string) bool {
		rel, err := filepath.Rel(t, path)
		return err == nil && filepath.IsLocal(rel) && !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git")
	})
}

func (w *walker) walk(tree string) error {
	return filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrPermission):
			w.sums[w.name(path)] = Unreadable
			return nil
		case err != nil:
			return err
		case d.Name() == ".git" && path != tree:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && d.Name() == "providers" && w.isData(filepath.Dir(path)):
			if err := w.packages(path); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir() && path != tree && slices.Contains(w.trees, path):
			return fs.SkipDir // it has its turn
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			return w.link(path)
		case !d.Type().IsRegular() && decides(d.Name()):
			return fmt.Errorf("%q is not a plain file, so what it says cannot be trusted", path)
		case !d.Type().IsRegular():
			w.sums[w.name(path)] = "no plain file: " + d.Type().String() // a pipe or a socket, by which programs speak
			return nil
		}
		return w.file(path)
	})
}

func (w *walker) isData(dir string) bool {
	return w.mine(dir) || filepath.Base(dir) == ".terraform"
}

// mine reports whether dir is the data directory of the root.
func (w *walker) mine(dir string) bool { return dir == w.Data || dir == w.data }

func (w *walker) file(path string) error {
	name := w.name(path)
	if len(w.files)+len(w.may) >= MaxFiles {
		return fmt.Errorf("%q holds more than %d files: too many to be trusted as they are; keep what is no part of it elsewhere", w.Root, MaxFiles)
	}
	if changing(path, w.isData(filepath.Dir(path))) {
		w.may[name] = path
	} else {
		w.files[name] = path
	}
	return nil
}

func (w *walker) link(path string) error {
	if editors(filepath.Base(path)) {
		return nil // Emacs marks a file that is edited with a link to nothing
	}
	says, err := os.Readlink(path)
	if err != nil {
		return err
	}
	name := w.name(path)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		w.links[name] = says
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && changing(path, w.isData(filepath.Dir(path))) {
		w.may[name] = path
		return nil
	}
	if !w.closed(real) {
		return fmt.Errorf("the link %q leads out of what would be trusted, to %q: put the file itself there, or name its directory as a module", path, real)
	}
	w.links[name] = says
	if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() {
		w.files[name] = real
	}
	return nil
}

// beside takes a file that counts whatever it is called.
func (w *walker) beside(path string) error {
	name := w.name(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.sums[name] = Absent
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a plain file, so what it says cannot be trusted", path)
	}
	delete(w.may, name)
	w.files[name] = path
	return nil
}

// digest reads everything that was found.
func (w *walker) digest() (Closure, error) {
	c := Closure{Files: map[string]string{}}
	mentioned := newMentions(w.may)
	one := func(name, path string) error {
		sum, text, err := w.sum(path)
		if err != nil {
			return err
		}
		if says, ok := w.links[name]; ok {
			sum = "link to " + says + " " + sum
		}
		c.Files[name] = sum
		if configures(path) {
			c.Modules++
		}
		c.Programs = append(c.Programs, programs(path, text)...)
		c.Addresses = append(c.Addresses, addresses(path, text)...)
		if !hasEnd(path, ".md", ".gitignore") { // they are read by people, and by git
			mentioned.in(text, decides(path))
		}
		return nil
	}
	for name, path := range w.files {
		if err := one(name, path); err != nil {
			return c, err
		}
	}
	for more := mentioned.run(); len(more) > 0; more = mentioned.run() { // what is run may run more
		for name, path := range more {
			if err := one(name, path); err != nil {
				return c, err
			}
		}
	}
	for name, says := range w.links {
		if _, ok := c.Files[name]; !ok {
			c.Files[name] = "link to " + says
		}
	}
	for name, says := range w.sums {
		c.Files[name] = says
	}
	slices.Sort(c.Programs)
	slices.Sort(c.Addresses)
	c.Programs, c.Addresses = slices.Compact(c.Programs), slices.Compact(c.Addresses)
	return c, nil
}
