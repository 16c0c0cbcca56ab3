package gitread

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
)

// Commit is one, as its object says.
type Commit struct {
	Sum     string
	Parents []string
	Time    time.Time // of the committer
	Subject string
	Author  string // without the address
	tree    string
}

// Commit reads a commit.
func (c Clone) Commit(ctx context.Context, sum string) (Commit, error) {
	kind, body, err := c.object(ctx, sum)
	if err != nil {
		return Commit{}, err
	}
	if kind != "commit" {
		return Commit{}, fmt.Errorf("%s is a %s, not a commit", sum, kind)
	}
	out := Commit{Sum: sum, tree: header(body, "tree")}
	head, message, _ := bytes.Cut(body, []byte("\n\n"))
	for line := range strings.Lines(string(head)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "parent "); ok {
			out.Parents = append(out.Parents, p)
		}
	}
	name, _, _ := strings.Cut(header(body, "author"), "<")
	out.Author = strings.TrimSpace(name)
	words := strings.Fields(header(body, "committer")) // NAME <ADDRESS> SECONDS ZONE
	if len(words) >= 2 {
		if n, err := strconv.ParseInt(words[len(words)-2], 10, 64); err == nil {
			out.Time = time.Unix(n, 0).UTC()
		}
	}
	if out.Time.IsZero() {
		return Commit{}, fmt.Errorf("commit %s has no time", sum)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(message)), "\n")
	out.Subject = strings.TrimSpace(first)
	return out, nil
}

// Tree is the name of what a directory holds in a commit; dir has slashes and begins at
// the top, which is ".". Without it the error is ErrNoFile.
func (c Clone) Tree(ctx context.Context, of Commit, dir string) (string, error) {
	if dir = path.Clean(dir); dir == "." {
		return of.tree, nil
	}
	return c.blob(ctx, of.Sum, dir)
}

// Files reads the regular files of a directory, by name, for which wanted holds. tree is
// the name of what it holds.
func (c Clone) Files(ctx context.Context, tree string, wanted func(name string) bool) (map[string][]byte, error) {
	kind, body, err := c.object(ctx, tree)
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, ErrNoFile
	}
	out := map[string][]byte{}
	for len(body) > 0 {
		mode, rest, ok := bytes.Cut(body, []byte{0})
		if !ok || len(rest) < 20 {
			return nil, errors.New("a tree of the clone breaks off")
		}
		how, name, _ := strings.Cut(string(mode), " ")
		if strings.HasPrefix(how, "100") && wanted(name) {
			_, text, err := c.object(ctx, hex.EncodeToString(rest[:20]))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = text
		}
		body = rest[20:]
	}
	return out, nil
}
