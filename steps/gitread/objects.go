package gitread

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// objectSize bounds one object: a lock file or a tree is far smaller.
	objectSize = 16 << 20
	// deltaDepth bounds a chain of deltas; git makes 50 of them.
	deltaDepth = 250
)

// ErrNoFile says that a commit does not have a file.
var ErrNoFile = errors.New("the commit does not have the file")

var errNoObject = errors.New("the clone does not have the object")

// Top is the directory of the working tree.
func (c Clone) Top() string { return c.top }

// Resolve returns the commit that a name stands for: HEAD, a branch, a tag, a
// branch of a remote, or the whole name of a commit. An annotated tag is followed.
func (c Clone) Resolve(ctx context.Context, name string) (string, error) {
	sum := ""
	switch {
	case name == "" || name == "HEAD":
		var err error
		if sum, _, err = c.Head(); err != nil {
			return "", err
		}
	case gitSum.MatchString(name):
		sum = name
	case !isRef("refs/heads/"+name) || strings.Contains(name, ".."):
		return "", fmt.Errorf("%q is not a commit name", name)
	default:
		for _, place := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
			found, err := c.ref(place + name)
			if err == nil {
				sum = found
				break
			}
			if !errors.Is(err, errNoRef) {
				return "", err
			}
		}
		if sum == "" {
			return "", fmt.Errorf("%q is no branch and no tag of the clone; a commit is named by all of its 40 digits", name)
		}
	}
	for range 10 { // a tag may name a tag
		kind, body, err := c.object(ctx, sum)
		if err != nil {
			return "", fmt.Errorf("commit %s: %w", sum, err)
		}
		if kind == "commit" {
			return sum, nil
		}
		if kind != "tag" {
			return "", fmt.Errorf("%q names a %s, not a commit", name, kind)
		}
		if sum = header(body, "object"); !gitSum.MatchString(sum) {
			return "", fmt.Errorf("tag %q names nothing", name)
		}
	}
	return "", fmt.Errorf("%q is a tag of a tag of a tag", name)
}

// header is the value of the first line of this name before the message.
func header(body []byte, name string) string {
	head, _, _ := bytes.Cut(body, []byte("\n\n"))
	for line := range strings.Lines(string(head)) {
		if v, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), name+" "); ok {
			return v
		}
	}
	return ""
}

// File returns a file as a commit has it; path has slashes and begins at the top.
// Without it the error is ErrNoFile.
func (c Clone) File(ctx context.Context, commit, path string) ([]byte, error) {
	sum, err := c.blob(ctx, commit, path)
	if err != nil {
		return nil, err
	}
	kind, body, err := c.object(ctx, sum)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("%s is a %s, not a file: %w", path, kind, ErrNoFile)
	}
	return body, err
}

// blob is the name of the content of a file in a commit.
func (c Clone) blob(ctx context.Context, commit, path string) (string, error) {
	kind, body, err := c.object(ctx, commit)
	if err != nil {
		return "", err
	}
	if kind != "commit" {
		return "", fmt.Errorf("%s is a %s, not a commit", commit, kind)
	}
	sum := header(body, "tree")
	for part := range strings.SplitSeq(path, "/") {
		kind, tree, err := c.object(ctx, sum)
		if err != nil {
			return "", err
		}
		if kind != "tree" {
			return "", ErrNoFile
		}
		if sum, err = entryOf(tree, part); err != nil {
			return "", err
		}
	}
	return sum, nil
}

// entryOf finds a name in a tree.
func entryOf(tree []byte, name string) (string, error) {
	for len(tree) > 0 {
		mode, rest, ok := bytes.Cut(tree, []byte{0})
		if !ok || len(rest) < 20 {
			return "", errors.New("a tree of the clone breaks off")
		}
		if _, found, _ := strings.Cut(string(mode), " "); found == name {
			return hex.EncodeToString(rest[:20]), nil
		}
		tree = rest[20:]
	}
	return "", ErrNoFile
}

// object reads one object by its name.
func (c Clone) object(ctx context.Context, sum string) (kind string, body []byte, err error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	if len(sum) != 40 || !gitSum.MatchString(sum) {
		return "", nil, fmt.Errorf("%q is not the name of an object by SHA-1, the only ones that are read here", sum)
	}
	kind, body, err = c.loose(sum)
	if !errors.Is(err, fs.ErrNotExist) {
		return kind, body, err
	}
	return c.packed(ctx, sum, 0)
}

// loose reads an object that has a file of its own.
func (c Clone) loose(sum string) (string, []byte, error) {
	f, err := openFile(filepath.Join(c.common, "objects", sum[:2], sum[2:]))
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	whole, err := inflate(f, objectSize+64)
	if err != nil {
		return "", nil, fmt.Errorf("object %s: %w", sum, err)
	}
	head, body, ok := bytes.Cut(whole, []byte{0})
	kind, size, _ := strings.Cut(string(head), " ")
	if n, err := strconv.Atoi(size); !ok || err != nil || n != len(body) {
		return "", nil, fmt.Errorf("object %s is damaged", sum)
	}
	return kind, body, nil
}

func openFile(name string) (*os.File, error) {
	info, err := os.Stat(name) // before the open, which would wait for a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return os.Open(name)
}

func inflate(r io.Reader, most int) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out, err := io.ReadAll(io.LimitReader(z, int64(most)+1))
	if err == nil && len(out) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return out, err
}
