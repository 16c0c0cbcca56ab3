package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// FS is the part of the file system that the writing side uses, so that a test can make any call fail.
// Names are whole paths. OpenFile must not follow a symbolic link in the last element.
type FS interface {
	Mkdir(name string, perm fs.FileMode) error
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	Lstat(name string) (fs.FileInfo, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	SyncDir(name string) error // makes the names in a directory durable
}

// File is what the writing side does with an open file.
type File interface {
	io.ReadWriteCloser
	io.Seeker
	Chmod(perm fs.FileMode) error
	Truncate(size int64) error
	Sync() error
}

// OS is the file system of the machine.
type OS struct{}

func (OS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (OS) Rename(from, to string) error               { return os.Rename(from, to) }
func (OS) Remove(name string) error                   { return os.Remove(name) }
func (OS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|NoFollow, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Read reads a small file.
func Read(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%q is over %d bytes", name, limit)
	}
	return b, err
}

// Write makes name appear with exactly these bytes or not at all: renaming alone is not durable before its
// directory is synced.
func Write(fsys FS, dir, name string, data []byte, perm fs.FileMode) error {
	tmp := dir + "/.tmp-" + name
	f, err := fsys.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, dir+"/"+name)
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}
