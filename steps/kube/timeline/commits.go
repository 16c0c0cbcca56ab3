package timeline

import (
	"context"
	"fmt"
	"path/filepath"

	"handrail/steps/gitread"
)

// mostCommits bounds how many are read of a clone.
const mostCommits = 500

// commits reads those of HEAD of a clone, of the window.
func (r *run) commits(ctx context.Context, dir string) error {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.env.Dir, dir)
	}
	c, err := gitread.Open(dir)
	if err != nil {
		return err
	}
	head, branch, err := c.Head()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for todo := []string{head}; len(todo) > 0; todo = todo[1:] {
		sum := todo[0]
		if seen[sum] {
			continue
		}
		if seen[sum] = true; len(seen) > mostCommits {
			return fmt.Errorf("it has more than %d commits since then", mostCommits)
		}
		one, err := c.Commit(ctx, sum)
		if err != nil {
			return fmt.Errorf("its history ends at %s: %w", short(sum), err)
		}
		if one.Time.Before(r.l.since) {
			continue // what is older stands behind it
		}
		name := "commit " + short(sum)
		if branch != "" {
			name += " of " + branch
		}
		r.l.add(one.Time, 1, ofGit, name, one.Author, one.Subject)
		todo = append(todo, one.Parents...)
	}
	return nil
}
