package render

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"handrail/steps/gitread"
)

// above finds where a kustomization leaves its directory.
var above = regexp.MustCompile(`\.\.(?:/[^\s'",\]\}#]*)?`)

// Gather reads from a commit what a path is rendered of: all below it, all below what
// its kustomizations name above it, and more files where they are there, among them what each
// directory above says that Flux leaves out. It believes the clone only where content and name
// agree. The error is [gitread.ErrNoFile] where the commit has no such path.
func Gather(ctx context.Context, c gitread.Clone, commit, dir string, more ...string) (map[string][]byte, error) {
	of, err := c.Commit(ctx, commit)
	if err != nil {
		return nil, err
	}
	if dir = path.Clean(strings.TrimPrefix(dir, "/")); dir == ".." || strings.HasPrefix(dir, "../") {
		return nil, fmt.Errorf("the path %q leaves the repository", dir)
	}
	g := gathering{files: map[string][]byte{}, left: MostBytes}
	for todo := []string{dir}; len(todo) > 0; todo = todo[1:] {
		next := todo[0]
		if slices.ContainsFunc(g.roots, func(root string) bool { return next == root || within(next, root) }) {
			continue
		}
		g.roots = append(g.roots, next)
		before := len(todo)
		err := c.Walk(ctx, of, next, func(name string, kind gitread.Kind, content []byte) error {
			if err := g.take(name, kind, content); err != nil {
				return err
			}
			if kind == gitread.Regular && slices.Contains(kustomizationNames, path.Base(name)) {
				todo = append(todo, leads(path.Dir(name), content)...)
			}
			return nil
		})
		switch {
		case errors.Is(err, gitread.ErrNoFile) && next != dir:
			// A file, or nothing: kustomize says so if it is loaded.
			todo = todo[:before]
		case err != nil:
			return nil, fmt.Errorf("%s at %s: %w", next, commit, err)
		}
	}
	for _, name := range slices.Concat(more, aboveOf(g.roots)) {
		if _, had := g.files[name]; had {
			continue
		}
		kind, content, err := c.One(ctx, of, name)
		switch {
		case errors.Is(err, gitread.ErrNoFile):
			continue // the tool says so if it needs it
		case err == nil:
			err = g.take(name, kind, content)
		}
		if err != nil {
			return nil, err
		}
	}
	return g.files, nil
}

// gathering bounds what is gathered.
type gathering struct {
	files map[string][]byte
	roots []string
	left  int
}

func (g *gathering) take(name string, kind gitread.Kind, content []byte) error {
	switch {
	case kind == gitread.Link:
		return notHere("%s is a link, and links are not followed here", name)
	case kind == gitread.Submodule:
		return notHere("%s is a submodule, and its content is not in the clone", name)
	}
	if _, had := g.files[name]; had {
		return nil
	}
	if g.left -= len(content); g.left < 0 || len(g.files) >= MostFiles {
		return notHere("what it is rendered of has more than %d files or %d MiB", MostFiles, MostBytes>>20)
	}
	g.files[name] = content
	return nil
}

// leads are the directories above dir that a kustomization there names.
func leads(dir string, text []byte) []string {
	var out []string
	for _, at := range above.FindAllString(string(text), -1) {
		to := path.Join("/", dir, at)
		if to = strings.TrimPrefix(to, "/"); to == "" {
			to = "."
		}
		if !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}
