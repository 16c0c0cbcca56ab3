// Package gitread reads clones of git without git: their HEAD, their tracked
// files, and files as commits have them. Nothing is run, since git would run what
// the configuration of a stranger's clone names, and nothing is written.
//
// Commits named by SHA-256, objects kept in another place (alternates) or on a
// server (partial clones), and refs in another form than files are not read; each
// is an error that says so.
package gitread

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	// gitSmall bounds the files of .git that are small by nature.
	gitSmall = 4 << 20
	// gitFiles bounds how many tracked files are compared.
	gitFiles = 20_000
	// gitContent bounds what is read of the tracked files.
	gitContent = 64 << 20
)

// Clone is the git directory that a working directory belongs to.
type Clone struct {
	top    string // of the working tree
	dir    string // .git, or where it points
	common string // where refs live, for a linked working tree
}

var (
	errNoClone = errors.New("the working directory is in no git clone")
	gitRef     = regexp.MustCompile(`^refs/[A-Za-z0-9._/@+-]+$`)
	gitSum     = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// isRef reports whether a text is the name of a ref that is read.
func isRef(text string) bool { return len(text) <= 205 && gitRef.MatchString(text) }

// Open looks for a clone from dir upwards.
func Open(dir string) (Clone, error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		name := filepath.Join(at, ".git")
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return Clone{top: at, dir: name, common: name}, nil
		case err == nil && info.Mode().IsRegular():
			return linked(at, name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return Clone{}, err
		}
		if at == filepath.Dir(at) {
			return Clone{}, errNoClone
		}
	}
}

// linked is a working tree whose git directory is elsewhere.
func linked(top, name string) (Clone, error) {
	b, err := gitFile(name)
	if err != nil {
		return Clone{}, err
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
	if !ok {
		return Clone{}, fmt.Errorf("%s names no git directory", name)
	}
	c := Clone{top: top, dir: from(top, dir)}
	c.common = c.dir
	if b, err := gitFile(filepath.Join(c.dir, "commondir")); err == nil {
		c.common = from(c.dir, strings.TrimSpace(string(b)))
	}
	return c, nil
}

func from(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// gitFile reads a small regular file.
func gitFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > gitSmall {
		return nil, fmt.Errorf("%s has more than %d bytes", name, gitSmall)
	}
	return os.ReadFile(name)
}

// Head is the commit that is checked out, and the branch, "" where none is.
func (c Clone) Head() (commit, branch string, err error) {
	b, err := gitFile(filepath.Join(c.dir, "HEAD"))
	if err != nil {
		return "", "", err
	}
	text := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		return sumOf(text, "HEAD")
	}
	if !isRef(ref) || strings.Contains(ref, "..") {
		return "", "", errors.New("HEAD names no ref")
	}
	branch = strings.TrimPrefix(ref, "refs/heads/")
	commit, err = c.ref(ref)
	return commit, branch, err
}

var errNoRef = errors.New("no such ref")

// ref is the object that a ref of an accepted form names.
func (c Clone) ref(ref string) (string, error) {
	for _, dir := range []string{c.dir, c.common} {
		if b, err := gitFile(filepath.Join(dir, filepath.FromSlash(ref))); err == nil {
			sum, _, err := sumOf(strings.TrimSpace(string(b)), ref)
			return sum, err
		}
	}
	packed, err := gitFile(filepath.Join(c.common, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(packed)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			sum, _, err := sumOf(sum, ref)
			return sum, err
		}
	}
	return "", fmt.Errorf("%s has no commit, or its refs are kept in another form: %w", strings.TrimPrefix(ref, "refs/heads/"), errNoRef)
}

func sumOf(text, of string) (sum, _ string, err error) {
	if !gitSum.MatchString(text) {
		return "", "", fmt.Errorf("%s names no commit", of)
	}
	return text, "", nil
}

// indexEntry is one file of the index.
type indexEntry struct {
	name string
	mode uint32
	size uint32
	sum  string
	met  stamp // the times of the file when its content was taken
}

// stamp is when a file was written and when its inode changed, each in seconds and nanoseconds
// as the index has them.
type stamp struct{ written, changed [2]uint32 }

// before reports whether the file was written before a time: what was written later may differ
// from what the index took, with the same times.
func (s stamp) before(at time.Time) bool {
	return time.Unix(int64(s.written[0]), int64(s.written[1])).Before(at)
}

// index reads the list of tracked files, in the forms in which all clones have
// it but those that were told otherwise.
func (c Clone) index() (list []indexEntry, written time.Time, err error) {
	name := filepath.Join(c.dir, "index")
	info, err := os.Stat(name)
	if err != nil {
		return nil, written, err
	}
	if !info.Mode().IsRegular() || info.Size() > 16*gitSmall {
		return nil, written, fmt.Errorf("the index of the clone is no file of a usual size")
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, written, err
	}
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, written, errors.New("the index of the clone has no form that is known here")
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version != 2 && version != 3 {
		return nil, written, fmt.Errorf("the index of the clone has version %d, 2 and 3 are known here", version)
	}
	if count > gitFiles {
		return nil, written, fmt.Errorf("the clone tracks %d files, %d at most are compared", count, gitFiles)
	}
	out := make([]indexEntry, 0, count)
	for at := 12; len(out) < int(count); {
		t, size := entryAt(b[min(at, len(b)):])
		if size == 0 {
			return nil, written, errors.New("the index of the clone breaks off")
		}
		out = append(out, t)
		at += size
	}
	return out, info.ModTime(), nil
}

// entryAt reads one entry of the index; a size of 0 says that there is none.
func entryAt(b []byte) (indexEntry, int) {
	const fixed = 62
	if len(b) < fixed {
		return indexEntry{}, 0
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	t := indexEntry{mode: word(24), size: word(36), sum: hex.EncodeToString(b[40:60])}
	t.met = stamp{changed: [2]uint32{word(0), word(4)}, written: [2]uint32{word(8), word(12)}}
	head := fixed
	if b[60]&0x40 != 0 {
		head += 2
	}
	if len(b) < head {
		return indexEntry{}, 0
	}
	n := bytes.IndexByte(b[head:], 0)
	if n < 0 {
		return indexEntry{}, 0
	}
	t.name = string(b[head : head+n])
	size := (head + n + 8) &^ 7
	if size > len(b) {
		return indexEntry{}, 0
	}
	return t, size
}

// Changed counts the tracked files whose content is not that of the index. It follows no link
// out of the working tree. As for git, a file that has the size and both times of its entry, and
// was written before the index, is the one that was taken; the others are read.
func (c Clone) Changed(ctx context.Context) (changed, all int, err error) {
	list, taken, err := c.index()
	if err != nil {
		return 0, 0, err
	}
	root, err := os.OpenRoot(c.top)
	if err != nil {
		return 0, 0, err
	}
	defer root.Close()
	left := int64(gitContent)
	for _, t := range list {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		if t.mode&0o170000 != 0o100000 {
			continue // links and submodules are not compared
		}
		all++
		info, err := root.Lstat(filepath.FromSlash(t.name))
		if err != nil || !info.Mode().IsRegular() || uint32(info.Size()) != t.size {
			changed++
			continue
		}
		if met, ok := stampOf(info); ok && met == t.met && met.before(taken) {
			continue
		}
		if left -= info.Size(); left < 0 {
			return 0, 0, fmt.Errorf("the tracked files have more than %d bytes", gitContent)
		}
		sum, err := blobSum(root, filepath.FromSlash(t.name), info.Size())
		if err != nil || sum != t.sum {
			changed++
		}
	}
	return changed, all, nil
}

// blobSum is the name that git gives to the content of a file. SHA-1 is git's.
func blobSum(root *os.Root, name string, size int64) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
