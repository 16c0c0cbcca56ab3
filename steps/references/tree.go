package references

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/gitread"
)

const (
	mostFiles = 300_000
	mostBytes = 4 << 30
	mostTold  = 50 // locations, of all places
	mostWhy   = 5  // files that were not searched, named
)

// tree is one place while it is searched.
type tree struct {
	*search
	place  *Place
	top    string // folder, or the folder of the one file
	single string // the one file, "" for a folder
	newest time.Time
	read   map[string]bool // files that were searched whole, below top
	clones []string        // below top
	open   []string        // what was not searched
}

// search is what the places of one reading share.
type search struct {
	ask   Ask
	names []name
	files int
	bytes int64
}

func (s *search) within() error {
	if s.files > mostFiles || s.bytes > mostBytes {
		return fmt.Errorf("the places have more than the %d files or %d GiB that are searched", mostFiles, mostBytes>>30)
	}
	return nil
}

func (t *tree) missed(at, why string) { t.open = append(t.open, at+" ("+why+")") }

// hit takes one match down.
func (t *tree) hit(at string, m match) {
	if m.line > 0 {
		at = fmt.Sprintf("%s:%d", at, m.line)
	}
	t.place.Hits++
	if len(t.place.Where) < mostTold {
		t.place.Where = append(t.place.Where, at+" ("+m.name+")")
	}
}

// own reports whether a file is of the unit that makes the server.
func (t *tree) own(at string) bool {
	if t.ask.Unit == "" {
		return false
	}
	rel, err := filepath.Rel(t.ask.Unit, filepath.Join(t.top, at))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// take counts the matches of one file.
func (t *tree) take(at string, found []match) {
	for _, m := range found {
		if !m.host && t.own(at) {
			t.place.Own++
			continue
		}
		t.hit(at, m)
	}
}

// walk calls each with every regular file below the place. No link is followed.
func (t *tree) walk(ctx context.Context, each func(at string, raw []byte)) error {
	root, err := os.OpenRoot(t.top)
	if err != nil {
		return err
	}
	defer root.Close()
	from := "."
	if t.single != "" {
		from = t.single
	}
	return fs.WalkDir(root.FS(), from, func(at string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.missed(at, "it cannot be read")
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Name() == ".git":
			t.clones = append(t.clones, filepath.Dir(at))
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			// What it leads to is searched where it is a file of this place.
			if _, err := root.Stat(at); err != nil {
				t.missed(at, "a link that leads out of the place, or nowhere")
			}
			return nil
		case !d.Type().IsRegular():
			t.missed(at, "no regular file")
			return nil
		}
		return t.file(root, at, each)
	})
}

func (t *tree) file(root *os.Root, at string, each func(string, []byte)) error {
	f, err := steps.OpenRegularIn(root, at)
	if err != nil {
		t.missed(at, "it cannot be read")
		return nil
	}
	defer f.Close()
	raw, info, err := steps.ReadAll(f, mostFile)
	if err != nil {
		t.missed(at, "it cannot be read whole")
		return nil
	}
	t.files++
	t.bytes += int64(len(raw))
	t.place.Files++
	if info.ModTime().After(t.newest) {
		t.newest = info.ModTime()
	}
	each(at, raw)
	return t.within()
}

// text searches a file as text.
func (t *tree) text(at string, raw []byte) {
	found, unread := content(t.names, raw, 0)
	t.take(at, found)
	if unread != "" {
		t.missed(at, unread)
		return
	}
	if t.read != nil {
		t.read[at] = true
	}
}

// plain searches a folder whose files are read as they are.
func (t *tree) plain(ctx context.Context) error {
	if err := t.walk(ctx, t.text); err != nil {
		return err
	}
	return t.aged()
}

// aged refuses what was saved too long ago.
func (t *tree) aged() error {
	if t.place.Files == 0 {
		return errors.New("there is no file in it")
	}
	if old := t.ask.Now.Sub(t.newest); t.ask.Fresh > 0 && old > t.ask.Fresh {
		return fmt.Errorf("its newest file is of %s, more than %s ago: save it again", t.newest.UTC().Format("2006-01-02 15:04"), t.ask.Fresh)
	}
	return nil
}

// code searches working copies: their files, and what their HEAD has beside them.
func (t *tree) code(ctx context.Context) error {
	t.read = map[string]bool{}
	if err := t.walk(ctx, t.text); err != nil {
		return err
	}
	if len(t.clones) == 0 {
		return errors.New("there is no clone of git in it")
	}
	missed := t.open
	t.open = nil
	for _, dir := range t.clones {
		if err := t.head(ctx, dir); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.missed(dir, err.Error())
		}
	}
	t.open = append(missed, t.open...)
	return nil
}

// fetched is when a clone last heard of its remote: its last fetch, or when it was made.
func fetched(dir string) time.Time {
	for _, name := range []string{".git/FETCH_HEAD", ".git/description", ".git/HEAD", ".git"} { // the last is that of a submodule
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// head searches what the HEAD of a clone has that its files do not.
func (t *tree) head(ctx context.Context, dir string) error {
	at := filepath.Join(t.top, dir)
	clone, err := gitread.Open(at)
	if err != nil {
		return err
	}
	if when := fetched(at); t.ask.Fresh > 0 && t.ask.Now.Sub(when) > t.ask.Fresh {
		return fmt.Errorf("last fetched at %s, more than %s ago: pull it", when.UTC().Format("2006-01-02 15:04"), t.ask.Fresh)
	}
	sum, _, err := clone.Head()
	if err != nil {
		return err
	}
	commit, err := clone.Commit(ctx, sum)
	if err != nil {
		return err
	}
	t.place.Commits = append(t.place.Commits, fmt.Sprintf("%s %s %s", dir, sum[:12], commit.Time.UTC().Format("2006-01-02")))
	return clone.Walk(ctx, commit, ".", func(name string, kind gitread.Kind, raw []byte) error {
		file := filepath.Join(dir, name)
		if kind == gitread.Submodule {
			if !slices.Contains(t.clones, file) {
				t.missed(file, "a submodule that is not checked out")
			}
			return nil
		}
		t.bytes += int64(len(raw))
		if kind == gitread.Link {
			return t.within()
		}
		found, unread := content(t.names, raw, 0)
		switch {
		case t.read[file]: // its lines are told by the file, unless they differ
			if len(found) > 0 && !slices.ContainsFunc(t.place.Where, func(w string) bool { return strings.HasPrefix(w, file) }) && len(t.place.Where) < mostTold {
				t.take(file+" at HEAD", found)
			}
		case unread != "":
			t.missed(file+" at HEAD", unread)
		default:
			t.take(file+" at HEAD", found)
		}
		return t.within()
	})
}
