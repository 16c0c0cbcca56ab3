package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/steps/catalog"
)

// Origin says where a runbook comes from. The nearest one that has an id is meant by it.
type Origin string

// The origins, the nearest first.
const (
	OfFile       Origin = "file"
	OfRepository Origin = "repository"
	OfTeam       Origin = "team"
	OfHandrail   Origin = "embedded"
)

// Words are the origin as a sentence has it.
func (o Origin) Words() string {
	return map[Origin]string{OfFile: "a file", OfRepository: "the repository", OfTeam: "the team", OfHandrail: "handrail itself"}[o]
}

// RepositoryRunbooks is where a repository keeps its runbooks, below its root.
const RepositoryRunbooks = ".handrail/runbooks"

// Book is a runbook and where it comes from.
type Book struct {
	*runbooks.Runbook
	Origin Origin
	Path   string   // absolute, "" for one that comes with the program
	Over   []Origin // that have a runbook of the same id, which this one stands before
}

// Bad is a file of runbooks that cannot be used, and why.
type Bad struct {
	ID, Path string
	Origin   Origin
	Err      error
}

// Shelf is all that ids can mean here.
type Shelf struct {
	Books []Book // one for each id, in order
	Bad   []Bad
	all   []Book
}

// ShelfOf gathers the runbooks of the repository around the working directory, of the team,
// and those that come with the program. A file that is wrong keeps no other from being used.
// Expressions are not compiled yet: the first screen waits for this.
func ShelfOf(p *process.Program) (Shelf, error) {
	s, err := ownShelf(p)
	if err != nil {
		return s, err
	}
	own, err := embedded()
	if err != nil {
		return s, err
	}
	for _, rb := range own {
		s.all = append(s.all, Book{Runbook: rb, Origin: OfHandrail})
	}
	for _, b := range s.all {
		if i := slices.IndexFunc(s.Books, func(x Book) bool { return x.ID == b.ID }); i >= 0 {
			s.Books[i].Over = append(s.Books[i].Over, b.Origin)
			continue
		}
		s.Books = append(s.Books, b)
	}
	slices.SortStableFunc(s.Books, func(a, b Book) int { return cmp.Compare(a.ID, b.ID) })
	return s, nil
}

// ownShelf gathers the runbooks of the repository and the team alone.
func ownShelf(p *process.Program) (Shelf, error) {
	var s Shelf
	for _, at := range []struct {
		of  Origin
		dir func() (string, error)
	}{{OfRepository, func() (string, error) { return repositoryBooks(p) }}, {OfTeam, func() (string, error) { return teamBooks(p) }}} {
		dir, err := at.dir()
		if err != nil {
			return s, err
		}
		if dir == "" {
			continue
		}
		if err := s.gather(at.of, dir); err != nil {
			return s, err
		}
	}
	return s, nil
}

// has reports whether a file of the shelf, right or wrong, has an id.
func (s Shelf) has(id string) bool {
	return slices.ContainsFunc(s.all, func(b Book) bool { return b.ID == id }) || slices.ContainsFunc(s.Bad, func(b Bad) bool { return b.ID == id })
}

// Name is what a runbook of the shelf is begun with: where a nearer file of its id is wrong, the
// id alone is refused.
func (s Shelf) Name(b Book) string {
	if slices.ContainsFunc(s.Bad, func(x Bad) bool { return x.ID == b.ID }) {
		return string(b.Origin) + ":" + b.ID
	}
	return b.ID
}

// Of is the runbook that an id means.
func (s Shelf) Of(id string) Book {
	i := slices.IndexFunc(s.Books, func(b Book) bool { return b.ID == id })
	if i < 0 {
		return Book{}
	}
	return s.Books[i]
}

// Runbooks are those that ids mean, in their order.
func (s Shelf) Runbooks() []*runbooks.Runbook {
	var out []*runbooks.Runbook
	for _, b := range s.Books {
		out = append(out, b.Runbook)
	}
	return out
}

// mostBooks bounds the files of one directory that are read.
const mostBooks = 500

// gather reads the runbooks of a directory; none is none.
func (s *Shelf) gather(of Origin, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the runbooks of %s: %w", of.Words(), err)
	}
	n := 0
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".yaml")
		if !ok || strings.HasSuffix(id, ".test") || strings.HasPrefix(id, ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if n++; n > mostBooks {
			s.Bad = append(s.Bad, Bad{id, path, of, &FileError{dir, fmt.Sprintf("it has more than %d runbooks", mostBooks), "the rest is not read"}})
			return nil
		}
		rb, err := outline(path, dir)
		if err == nil && rb.ID != id {
			err = runbooks.Problems{{File: path, Line: 1, Message: fmt.Sprintf("the id %q is not the name of the file", rb.ID), Hint: "call the file " + rb.ID + ".yaml"}}
		}
		if err != nil {
			s.Bad = append(s.Bad, Bad{id, path, of, err})
			continue
		}
		s.all = append(s.all, Book{Runbook: rb, Origin: of, Path: path})
	}
	return nil
}

func outline(path, root string) (*runbooks.Runbook, error) {
	src, err := bookText(path, root)
	if err != nil {
		return nil, err
	}
	return runbooks.Outline(path, src, catalog.New())
}

// repositoryBooks is the directory of the runbooks of the repository that the working
// directory is in, "" outside of one. Without a repository nothing above is looked at: it may
// be a directory that everyone writes to.
func repositoryBooks(p *process.Program) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", nil //nolint:nilerr // a working directory that is gone has no repository
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(RepositoryRunbooks)), nil
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(here, filepath.FromSlash(RepositoryRunbooks)), nil
		}
	}
}

// teamBooks is the directory of the team's runbooks, "" where there is no home for one.
func teamBooks(p *process.Program) (string, error) {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", nil //nolint:nilerr // without a home there is no place where a file could be
	}
	return filepath.Join(dir, "runbooks"), nil
}

// BooksDir is where a new runbook of the repository, or of the team, belongs.
func BooksDir(p *process.Program, team bool) (string, error) {
	dir, err := repositoryBooks(p)
	if team {
		dir, err = teamBooks(p)
	}
	if err == nil && dir == "" {
		err = process.Usage("set HOME, or name a directory with --dir", "there is no place for runbooks")
	}
	return dir, err
}

// isFile reports whether a name means a file and not an id.
func isFile(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// Look finds a runbook by its id, by its origin and id (embedded:state-lock), or as a file,
// whether it is trusted or not. It is checked whole.
func Look(p *process.Program, name string) (Book, error) {
	if isFile(name) {
		return lookFile(p, name)
	}
	id, from := name, Origin("")
	if of, rest, ok := strings.Cut(name, ":"); ok {
		id, from = rest, Origin(of)
		if !slices.Contains([]Origin{OfRepository, OfTeam, OfHandrail}, from) {
			return Book{}, process.Usage("write repository:ID, team:ID or embedded:ID", "there is no origin of runbooks %q", of)
		}
	}
	own, err := ownShelf(p)
	if err != nil {
		return Book{}, err
	}
	if !own.has(id) && (from == "" || from == OfHandrail) { // no other has to be read
		rb, err := embeddedOne(id)
		if err == nil {
			return Book{Runbook: rb, Origin: OfHandrail}, rb.Check()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Book{}, err
		}
	}
	s, err := ShelfOf(p)
	if err != nil {
		return Book{}, err
	}
	return s.find(p, id, from)
}

// find takes the nearest runbook of an id, or that of one origin. A nearer one that is wrong
// is never passed over in silence.
func (s Shelf) find(p *process.Program, id string, from Origin) (Book, error) {
	for _, of := range []Origin{OfRepository, OfTeam, OfHandrail} {
		if from != "" && from != of {
			continue
		}
		if i := slices.IndexFunc(s.Bad, func(b Bad) bool { return b.Origin == of && b.ID == id }); i >= 0 {
			return Book{}, s.badBook(s.Bad[i])
		}
		i := slices.IndexFunc(s.all, func(b Book) bool { return b.Origin == of && b.ID == id })
		if i < 0 {
			continue
		}
		b := s.all[i]
		for _, x := range s.all[i+1:] {
			if x.ID == id {
				b.Over = append(b.Over, x.Origin)
			}
		}
		if of == OfHandrail {
			return b, b.Runbook.Check()
		}
		rb, err := LintBook(p, b.Path, b.Source)
		if err != nil {
			return Book{}, s.badBook(Bad{id, b.Path, of, err})
		}
		b.Runbook = rb
		return b, nil
	}
	var ids []string
	for _, b := range s.Books {
		if from == "" || b.Origin == from || slices.Contains(b.Over, from) {
			ids = append(ids, b.ID)
		}
	}
	return Book{}, process.Unknown("runbook", id, ids, "handrail runbook list")
}

// badBook says that a runbook cannot be used, and what can be instead.
func (s Shelf) badBook(b Bad) error {
	next := "correct it and check it with `handrail runbook lint " + b.Path + "`"
	if slices.ContainsFunc(s.all, func(x Book) bool { return x.ID == b.ID && x.Origin == OfHandrail }) {
		next += ", or take the one that comes with handrail: embedded:" + b.ID
	}
	return &process.Problem{Code: process.ExitUsage, Err: fmt.Errorf("the runbook %q of %s cannot be used:\n%w", b.ID, b.Origin.Words(), b.Err), Next: next}
}

// lookFile reads a runbook that was named as a file.
func lookFile(p *process.Program, name string) (Book, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return Book{}, err
	}
	src, err := bookText(path, "")
	if err != nil {
		next := "name a file that can be read"
		var wrong *FileError
		if errors.As(err, &wrong) {
			next = wrong.Cure
		}
		return Book{}, process.Usage(next, "%w", err)
	}
	rb, err := LintBook(p, name, src)
	if err != nil {
		return Book{}, &process.Problem{Code: process.ExitUsage, Err: err, Next: "correct it and check it with `handrail runbook lint " + name + "`"}
	}
	b := Book{Runbook: rb, Origin: OfFile, Path: path}
	if s, err := ShelfOf(p); err == nil {
		for _, x := range s.all {
			if x.ID == rb.ID && x.Path != path {
				b.Over = append(b.Over, x.Origin)
			}
		}
	}
	return b, nil
}
