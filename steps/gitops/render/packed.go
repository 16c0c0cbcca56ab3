package render

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// packed is what the source controller of Flux puts into its artifact of the tree: without what
// the .sourceignore of each directory and the ignore of the source name, or what it leaves out
// where neither names anything (source-controller v1.9, docs/spec/v1/gitrepositories.md,
// "Excluding files").
func (t tree) packed(ignore string) tree {
	var named []gitignore.Pattern
	for _, dir := range t.ignoring() {
		named = append(named, sourceignore.ReadPatterns(bytes.NewReader(t[path.Join(dir, sourceignore.IgnoreFile)]), domain(dir))...)
	}
	named = append(named, sourceignore.ReadPatterns(strings.NewReader(ignore), nil)...)
	matcher := sourceignore.NewDefaultMatcher(nil, nil)
	if len(named) > 0 {
		matcher = sourceignore.NewMatcher(append(sourceignore.VCSPatterns(nil), named...))
	}
	out := maps.Clone(t)
	maps.DeleteFunc(out, func(name string, _ []byte) bool { return matcher.Match(strings.Split(name, "/"), false) })
	return out
}

// ignoring are the directories with a .sourceignore, each before what is below it: a later
// pattern overrides an earlier one.
func (t tree) ignoring() []string {
	var out []string
	for name := range t {
		if path.Base(name) == sourceignore.IgnoreFile {
			out = append(out, path.Dir(name))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Compare(domain(a), domain(b)) })
	return out
}

// domain is a directory as the patterns that hold below it name it.
func domain(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// aboveOf are the .sourceignore files of the directories above some directories.
func aboveOf(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		for dir != "." && dir != "/" {
			dir = path.Dir(dir)
			if name := path.Join(dir, sourceignore.IgnoreFile); !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
