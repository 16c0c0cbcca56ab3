package depot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What a bundle may cost: it can be a stranger's.
const (
	maxFiles = 200_000
	maxFile  = 2 << 30
	maxBytes = 8 << 30
)

// copier copies the files of one bundle. Neither side can lead it out of its
// directory.
type copier struct {
	ctx   context.Context
	mode  fs.FileMode // of the directory that the bundle comes to lie in
	src   *os.Root
	dst   *os.Root
	files int
	bytes int64
	kept  map[string]bool
}

// contents names what is copied of a bundle. Seals come first and artifacts last:
// a writer that is at work adds them in the other order, so that the copy never
// names what it lacks.
func contents() []string {
	return []string{"bundle.json", "README", "seals", "journal", "blobs", "quarantine"}
}

// belongs tells what may lie in the directory of a bundle. What is not among its
// contents proves nothing and stays where it is.
func belongs(name string) bool {
	return slices.Contains(contents(), name) || name == "lock" || name == "report.md" || name == "report.html" || strings.HasPrefix(name, ".tmp-")
}

// bundle makes dst a copy of src.
func (c *copier) bundle(src, dst string) (err error) {
	if c.src, err = os.OpenRoot(src); err != nil {
		return err
	}
	defer c.src.Close()
	if err := os.Mkdir(dst, c.mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if c.dst, err = os.OpenRoot(dst); err != nil {
		return err
	}
	defer c.dst.Close() // its files were closed and synced
	c.kept = map[string]bool{".": true}
	for _, name := range contents() {
		if err := c.tree(name); err != nil {
			return err
		}
	}
	if err := c.strangers(); err != nil {
		return err
	}
	return c.settle()
}

// tree copies a file, or a directory with all that is in it.
func (c *copier) tree(top string) error {
	return fs.WalkDir(c.src.FS(), top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.kept[name] = true
		switch {
		case d.IsDir():
			if err := c.dst.Mkdir(name, c.mode); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		case strings.HasPrefix(path.Base(name), ".tmp-"):
			delete(c.kept, name)
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%w: %q is not a regular file", ErrUnverified, name)
		}
		return c.file(name)
	})
}

// file copies one file and makes it durable. An artifact that is there in full
// length is not copied again; its name is held against its bytes in the end.
func (c *copier) file(name string) error {
	if c.files++; c.files > maxFiles {
		return fmt.Errorf("%w: it has more than %d files", ErrUnverified, maxFiles)
	}
	in, err := c.src.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	artifact := strings.HasPrefix(name, "blobs/")
	if old, err := c.dst.Lstat(name); err == nil {
		if artifact && old.Mode().IsRegular() && old.Size() == info.Size() {
			c.bytes += old.Size()
			return nil
		}
		if err := c.dst.Remove(name); err != nil {
			return err
		}
	}
	perm := c.mode & 0o666
	out, err := c.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxFile+1))
	c.bytes += n
	if err == nil && (n > maxFile || c.bytes > maxBytes) {
		err = fmt.Errorf("%w: %q is over what a bundle may hold", ErrUnverified, name)
	}
	if err == nil && artifact {
		err = out.Chmod(c.mode & 0o444)
	}
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// strangers takes out of the copy what an earlier try left and the source does
// not have, and refuses what does not belong in a bundle.
func (c *copier) strangers() error {
	list, err := fs.ReadDir(c.src.FS(), ".")
	if err != nil {
		return err
	}
	for _, d := range list {
		if !belongs(d.Name()) {
			return fmt.Errorf("%w: %q does not belong in a bundle", ErrUnverified, d.Name())
		}
	}
	var old []string
	err = fs.WalkDir(c.dst.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && !c.kept[name] {
			old = append(old, name)
		}
		return err
	})
	for i := len(old) - 1; i >= 0 && err == nil; i-- {
		err = c.dst.Remove(old[i])
	}
	return err
}

// settle makes the names of all files durable.
func (c *copier) settle() error {
	return fs.WalkDir(c.dst.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return syncDir(filepath.Join(c.dst.Name(), filepath.FromSlash(name)))
	})
}
