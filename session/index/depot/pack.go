package depot

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/md5" // the name that S3 gives to a part
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"handrail/evidence"
)

// Suffix ends the name of a packed bundle.
const Suffix = ".hrb.tar.gz"

// maxTight is how far a bundle may shrink before it is packed again, worse:
// the reader takes a higher rate for a bomb.
const maxTight = 100

// maxPacked is the longest file that a reader takes from a stranger.
const maxPacked = 256 << 20

// ErrTooLong: the bundle has a file that would not be unpacked.
var ErrTooLong = errors.New("a packed bundle has no file of over 256 MiB")

// Package is a bundle as the one file that travels.
type Package struct {
	ID      string
	Created string // by bundle.json
	Size    int64
	SHA256  string // of the file, in hex
	Tar     string // SHA-256 of the tar in it, in hex

	file  *os.File
	dir   string
	files int
}

// Part is a piece of a Packed.
type Part struct {
	Offset, Size int64
	SHA256       [sha256.Size]byte
	MD5          [md5.Size]byte
}

// Reader reads one part; it can be read again.
func (p *Package) Reader(part Part) *io.SectionReader {
	return io.NewSectionReader(p.file, part.Offset, part.Size)
}

// Parts cuts the file into pieces of a size; the last one may be smaller.
func (p *Package) Parts(size int64) ([]Part, error) {
	var out []Part
	for at := int64(0); at < p.Size; at += size {
		part := Part{Offset: at, Size: min(size, p.Size-at)}
		sum, old := sha256.New(), md5.New() // as above
		if _, err := io.Copy(io.MultiWriter(sum, old), p.Reader(part)); err != nil {
			return nil, err
		}
		sum.Sum(part.SHA256[:0])
		old.Sum(part.MD5[:0])
		out = append(out, part)
	}
	return out, nil
}

// Close removes the file.
func (p *Package) Close() error {
	return errors.Join(p.file.Close(), os.RemoveAll(p.dir))
}

// Pack packs a bundle in the directory work. What it returns was unpacked again
// and verified.
func Pack(ctx context.Context, src, work string) (_ *Package, err error) {
	r, err := evidence.OpenReadOnly(src)
	if err != nil {
		return nil, err
	}
	p := &Package{ID: r.Meta().ID, Created: r.Meta().Created}
	if err := r.Close(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, fmt.Errorf("creating a place to pack: %w", err)
	}
	sweep(work)
	if p.dir, err = os.MkdirTemp(work, packing); err != nil {
		return nil, fmt.Errorf("creating a place to pack: %w", err)
	}
	if p.file, err = os.OpenFile(filepath.Join(p.dir, "packed"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	plain, err := p.write(ctx, src, gzip.DefaultCompression)
	if err == nil && p.Size > 0 && plain/p.Size > maxTight {
		_, err = p.write(ctx, src, gzip.HuffmanOnly)
	}
	if err != nil {
		return nil, fmt.Errorf("packing %q: %w", src, err)
	}
	return p, p.proved()
}

// packing begins the names of directories that Pack works in.
const packing = "packing-"

// sweep removes what a killed Pack left, once no writer can be left.
func sweep(work string) {
	old, _ := filepath.Glob(filepath.Join(work, packing+"*"))
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// proved unpacks the file as a stranger would and holds it to its own bytes.
func (p *Package) proved() error {
	into := filepath.Join(p.dir, "proof")
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	path, err := evidence.Unpack(io.NewSectionReader(p.file, 0, p.Size), into)
	if err != nil {
		return fmt.Errorf("%w, as a whole file: %w", ErrUnverified, err)
	}
	return errors.Join(verified(path, p.ID), os.RemoveAll(into))
}

// write packs src once and returns how long the tar is.
func (p *Package) write(ctx context.Context, src string, level int) (int64, error) {
	if err := p.file.Truncate(0); err != nil {
		return 0, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(src)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	outer, inner := &hashWriter{w: p.file, h: sha256.New()}, &hashWriter{h: sha256.New()}
	z, err := gzip.NewWriterLevel(outer, level)
	if err != nil {
		return 0, err
	}
	inner.w = z
	w := packer{ctx: ctx, root: root, tar: tar.NewWriter(inner), top: p.ID + ".hrb"}
	err = w.bundle()
	for _, c := range []io.Closer{w.tar, z} {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}
	p.files, p.Size, p.SHA256, p.Tar = w.files, outer.n, outer.sum(), inner.sum()
	return inner.n, err
}

// hashWriter hashes and counts what goes through it.
type hashWriter struct {
	w io.Writer
	h hash.Hash
	n int64
}

func (s *hashWriter) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.h.Write(b[:n])
	s.n += int64(n)
	return n, err
}

func (s *hashWriter) sum() string { return hex.EncodeToString(s.h.Sum(nil)) }

// packer writes the files of one bundle, in an order and with attributes that
// follow from the bundle alone.
type packer struct {
	ctx   context.Context
	root  *os.Root
	tar   *tar.Writer
	top   string
	files int
	bytes int64
}

func (w *packer) bundle() error {
	list, err := fs.ReadDir(w.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, d := range list {
		if !belongs(d.Name()) {
			return fmt.Errorf("%w: %q does not belong in a bundle", ErrUnverified, d.Name())
		}
	}
	if err := w.tar.WriteHeader(header(w.top+"/", 0)); err != nil {
		return err
	}
	for _, name := range contents() {
		if err := w.tree(name); err != nil {
			return err
		}
	}
	return nil
}

func (w *packer) tree(top string) error {
	return fs.WalkDir(w.root.FS(), top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case w.ctx.Err() != nil:
			return context.Cause(w.ctx)
		case strings.HasPrefix(path.Base(name), ".tmp-"):
			return nil
		case d.IsDir():
			return w.tar.WriteHeader(header(w.top+"/"+name+"/", 0))
		case !d.Type().IsRegular():
			return fmt.Errorf("%w: %q is not a regular file", ErrUnverified, name)
		}
		return w.file(name)
	})
}

func (w *packer) file(name string) error {
	if w.files++; w.files > maxFiles {
		return fmt.Errorf("%w: it has more than %d files", ErrUnverified, maxFiles)
	}
	in, err := w.root.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if w.bytes += info.Size(); info.Size() > maxFile || w.bytes > maxBytes {
		return fmt.Errorf("%w: %q is over what a bundle may hold", ErrUnverified, name)
	}
	if info.Size() > maxPacked {
		return fmt.Errorf("%w: %q has %d bytes", ErrTooLong, name, info.Size())
	}
	if err := w.tar.WriteHeader(header(w.top+"/"+name, info.Size())); err != nil {
		return err
	}
	// A journal may grow meanwhile; the header has promised its length.
	_, err = io.CopyN(w.tar, in, info.Size())
	return err
}

// header says of a file only what is the same wherever the bundle lies.
func header(name string, size int64) *tar.Header {
	h := &tar.Header{Name: name, Size: size, Typeflag: tar.TypeReg, Mode: 0o600, Format: tar.FormatUSTAR, ModTime: time.Unix(0, 0)}
	switch {
	case strings.HasSuffix(name, "/"):
		h.Typeflag, h.Mode = tar.TypeDir, 0o700
	case strings.Contains(name, "/blobs/"):
		h.Mode = 0o400
	}
	return h
}
