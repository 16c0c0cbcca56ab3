package gitread

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
)

// treeDepth bounds how deep directories are followed.
const treeDepth = 40

// A Kind is what an entry of a tree is, where it is no directory.
type Kind int

// The kinds.
const (
	Regular   Kind = iota
	Link           // its content is where it leads, and is not followed
	Submodule      // of another repository: there is no content here
)

// Walk calls each for what is below a directory of a commit, in the order of its trees;
// dir has slashes and begins at the top, which is ".". What each gets is held against its
// name, the sum of its content. Without the directory the error is ErrNoFile.
func (c Clone) Walk(ctx context.Context, of Commit, dir string, each func(name string, kind Kind, content []byte) error) error {
	tree, err := c.Tree(ctx, of, dir)
	if err != nil {
		return err
	}
	return c.walk(ctx, tree, path.Clean(dir), 0, each)
}

// One is what Walk would call each with for one name.
func (c Clone) One(ctx context.Context, of Commit, name string) (kind Kind, content []byte, err error) {
	tree, err := c.Tree(ctx, of, path.Dir(name))
	if err != nil {
		return 0, nil, err
	}
	body, err := c.proven(ctx, tree, "tree")
	if err != nil {
		return 0, nil, err
	}
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, found, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return 0, nil, errors.New("a tree of the clone breaks off")
		}
		body = rest[20:]
		if found != path.Base(name) {
			continue
		}
		switch mode {
		case "40000":
			return 0, nil, ErrNoFile
		case "160000":
			return Submodule, nil, nil
		case "120000":
			kind = Link
		}
		content, err = c.proven(ctx, hex.EncodeToString(rest[:20]), "blob")
		return kind, content, err
	}
	return 0, nil, ErrNoFile
}

func (c Clone) walk(ctx context.Context, tree, dir string, depth int, each func(string, Kind, []byte) error) error {
	if depth > treeDepth {
		return fmt.Errorf("%s: directories are more than %d deep", dir, treeDepth)
	}
	body, err := c.proven(ctx, tree, "tree")
	if err != nil {
		return err
	}
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return errors.New("a tree of the clone breaks off")
		}
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\") {
			return fmt.Errorf("a tree of the clone has an entry %q", name)
		}
		sum, at := hex.EncodeToString(rest[:20]), path.Join(dir, name)
		body = rest[20:]
		switch {
		case mode == "40000":
			err = c.walk(ctx, sum, at, depth+1, each)
		case mode == "160000":
			err = each(at, Submodule, nil)
		default:
			kind := Regular
			if mode == "120000" {
				kind = Link
			}
			var content []byte
			if content, err = c.proven(ctx, sum, "blob"); err == nil {
				err = each(at, kind, content)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// proven reads an object that must be of a kind, and holds it against its name.
func (c Clone) proven(ctx context.Context, sum, want string) ([]byte, error) {
	kind, body, err := c.object(ctx, sum)
	switch {
	case err != nil:
		return nil, err
	case kind != want && want == "tree":
		return nil, ErrNoFile
	case kind != want:
		return nil, fmt.Errorf("object %s is a %s, not a %s", sum, kind, want)
	}
	h := sha1.New() // git's
	fmt.Fprintf(h, "%s %d\x00", kind, len(body))
	h.Write(body)
	if hex.EncodeToString(h.Sum(nil)) != sum {
		return nil, fmt.Errorf("object %s has another content than its name says", sum)
	}
	return body, nil
}
