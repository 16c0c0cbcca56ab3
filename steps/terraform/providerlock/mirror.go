package providerlock

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

const (
	// maxFiles and maxBytes bound one package.
	maxFiles = 20_000
	maxBytes = 4 << 30
	// maxVersions bounds what is listed of a mirror.
	maxVersions = 2000
)

// ErrNotMirrored says that a mirror does not have a package.
var ErrNotMirrored = errors.New("the mirror does not have it")

// place is the directory of a provider in a mirror; an address from outside must
// not lead out of it.
func place(mirror, address string) (string, error) {
	parts := strings.Split(address, "/")
	if len(parts) != 3 || !filepath.IsLocal(filepath.FromSlash(address)) || path.Clean(address) != address {
		return "", fmt.Errorf("%q is not a provider address", address)
	}
	return filepath.Join(mirror, filepath.FromSlash(address)), nil
}

// Versions lists the versions of a provider that a mirror has for a platform,
// and those that it has for others alone.
func Versions(mirror, address, platform string) (here, elsewhere []string, err error) {
	dir, err := place(mirror, address)
	if err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(mirror); err != nil {
			return nil, nil, err
		}
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	kind := path.Base(address)
	add := func(v, of string) {
		to := &elsewhere
		if of == platform {
			to = &here
		}
		if !slices.Contains(*to, v) {
			*to = append(*to, v)
		}
	}
	for _, e := range entries[:min(len(entries), maxVersions)] {
		if v, of, ok := packed(e.Name(), kind); ok {
			add(v, of)
			continue
		}
		platforms, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // no directory of a version
		}
		for _, p := range platforms {
			add(e.Name(), p.Name())
		}
	}
	elsewhere = slices.DeleteFunc(elsewhere, func(v string) bool { return slices.Contains(here, v) })
	slices.Sort(here)
	slices.Sort(elsewhere)
	return here, elsewhere, nil
}

// packed reads the name of an archive: terraform-provider-KIND_VERSION_OS_ARCH.zip.
func packed(name, kind string) (version, platform string, ok bool) {
	rest, ok := strings.CutPrefix(name, "terraform-provider-"+kind+"_")
	if !ok {
		return "", "", false
	}
	if rest, ok = strings.CutSuffix(rest, ".zip"); !ok {
		return "", "", false
	}
	return strings.Cut(rest, "_")
}

// Hashes computes the hashes of a package of a mirror: h1 of one that is
// unpacked, h1 and zh of an archive.
func Hashes(ctx context.Context, mirror, address, version, platform string) ([]string, error) {
	dir, err := place(mirror, address)
	if err != nil {
		return nil, err
	}
	if !filepath.IsLocal(version) || strings.ContainsAny(version+platform, `/\`) {
		return nil, fmt.Errorf("%q is no version", version)
	}
	archive := filepath.Join(dir, "terraform-provider-"+path.Base(address)+"_"+version+"_"+platform+".zip")
	if info, err := os.Stat(archive); err == nil && info.Mode().IsRegular() {
		return hashArchive(ctx, archive)
	}
	unpacked := filepath.Join(dir, version, platform)
	if info, err := os.Stat(unpacked); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s %s for %s", ErrNotMirrored, address, version, platform)
	}
	h, err := hashDir(ctx, unpacked)
	return []string{h}, err
}

// budget counts what is read of one package, and ends with the context.
type budget struct {
	ctx  context.Context
	left int64
}

// over reads from r within the budget.
func (b *budget) over(r io.ReadCloser) io.ReadCloser { return &budgetReader{r, b} }

type budgetReader struct {
	io.ReadCloser
	b *budget
}

// Read implements io.Reader.
func (s *budgetReader) Read(p []byte) (int, error) {
	if s.b.ctx.Err() != nil {
		return 0, context.Cause(s.b.ctx)
	}
	n, err := s.ReadCloser.Read(p)
	if s.b.left -= int64(n); s.b.left < 0 {
		return n, fmt.Errorf("the package has more than %d bytes", int64(maxBytes))
	}
	return n, err
}

func hashDir(ctx context.Context, dir string) (string, error) {
	// A mirror may be made of links to one package.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	files, err := dirhash.DirFiles(dir, "")
	if err != nil {
		return "", err
	}
	if len(files) > maxFiles {
		return "", fmt.Errorf("the package has more than %d files", maxFiles)
	}
	b := &budget{ctx, maxBytes}
	return dirhash.Hash1(files, func(name string) (io.ReadCloser, error) {
		f, err := open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		return b.over(f), nil
	})
}

func open(name string) (*os.File, error) {
	info, err := os.Stat(name) // before the open, which would wait for a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return os.Open(name)
}

func hashArchive(ctx context.Context, name string) (_ []string, err error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	b := &budget{ctx, maxBytes}
	sum := sha256.New()
	if _, err := io.Copy(sum, b.over(f)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("the package has more than %d files", maxFiles)
	}
	var names []string
	files := map[string]*zip.File{}
	for _, e := range z.File {
		if !strings.HasSuffix(e.Name, "/") || !e.FileInfo().IsDir() {
			names = append(names, e.Name)
			files[e.Name] = e
		}
	}
	b.left = maxBytes
	h1, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		r, err := files[name].Open()
		if err != nil {
			return nil, err
		}
		return b.over(r), nil
	})
	return []string{h1, "zh:" + hex.EncodeToString(sum.Sum(nil))}, err
}
