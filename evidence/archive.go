package evidence

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"handrail/evidence/disk"
)

// What an archive from a stranger may ask of this machine.
const (
	maxPackedFile  = 256 << 20
	maxPackedRatio = 200
	ratioFrom      = 1 << 20 // a small bundle of zeros is no bomb
	maxPackedNames = maxFiles
	maxPadding     = 1 << 20
)

// ErrArchive: the archive holds something that a bundle cannot hold, or more than handrail takes from a stranger.
var ErrArchive = errors.New("not the archive of a bundle")

// Unpack writes a packed bundle (tar, or tar with gzip) into a new directory in dir, and returns its path. It creates
// plain files and directories with names of the layout and nothing else, never outside of that directory, and removes
// what it made when it refuses. It does not verify.
func Unpack(from io.Reader, dir string) (_ string, err error) {
	raw := &counting{r: from}
	in := bufio.NewReader(raw)
	u := unpacker{raw: raw, seen: map[string]bool{}}
	var packed io.Reader = in
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) { // too short a text is no tar either
		if packed, err = gzip.NewReader(in); err != nil {
			return "", fmt.Errorf("%w: %w", ErrArchive, err)
		}
	}
	packed = &unpacked{r: packed, raw: raw}
	u.tar = tar.NewReader(packed)
	defer func() {
		if u.root != nil {
			err = errors.Join(err, u.root.Close())
		}
		if err != nil && u.path != "" {
			err = errors.Join(err, os.RemoveAll(u.path))
		}
	}()
	for {
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if err := u.member(h, dir); err != nil {
			return "", fmt.Errorf("%w: %w", ErrArchive, err)
		}
	}
	if u.path == "" {
		return "", fmt.Errorf("%w: it is empty", ErrArchive)
	}
	if err := onlyPadding(packed); err != nil {
		return "", fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return u.path, nil
}

type unpacker struct {
	raw   *counting
	tar   *tar.Reader
	root  *os.Root
	path  string
	top   string // the directory that all names begin with, "" for none
	seen  map[string]bool
	names files
	bytes int64
}

func (u *unpacker) member(h *tar.Header, dir string) error {
	if len(u.seen) >= maxPackedNames {
		return fmt.Errorf("over %d names", maxPackedNames)
	}
	if len(h.Name) > 256 {
		return errors.New("a name of over 256 bytes")
	}
	if u.path == "" {
		if err := u.begin(h.Name, dir); err != nil {
			return err
		}
	}
	name, err := u.inside(h.Name)
	if err != nil {
		return err
	}
	if u.seen[name] {
		return fmt.Errorf("%q is there twice", h.Name)
	}
	u.seen[name] = true
	for key := range h.PAXRecords {
		if strings.Contains(strings.ToLower(key), "xattr") {
			return fmt.Errorf("%q has extended attributes", h.Name)
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if !placeDir(name) {
			return fmt.Errorf("directory %q does not belong in a bundle", h.Name)
		}
		return u.root.MkdirAll(name, 0o700)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%q is neither a file nor a directory", h.Name)
	}
	if !u.names.place(name) || u.names.temporary > 0 {
		return fmt.Errorf("%q does not belong in a bundle", h.Name)
	}
	if name == "lock" {
		return nil
	}
	return u.file(name, h.Size)
}

// begin makes the directory that the bundle goes into, by the name that the archive gives it.
func (u *unpacker) begin(first, dir string) error {
	base := "unpacked.hrb"
	if top, _, _ := strings.Cut(first, "/"); strings.HasSuffix(top, ".hrb") && validID.MatchString(strings.TrimSuffix(top, ".hrb")) {
		u.top, base = top, top
	}
	target := filepath.Join(dir, base)
	if err := os.Mkdir(target, 0o700); err != nil {
		return err
	}
	u.path = target
	var err error
	if u.root, err = os.OpenRoot(target); err != nil {
		return err
	}
	for _, sub := range [...]string{"journal", "blobs", "blobs/sha256", "quarantine", "seals"} {
		if err := u.root.Mkdir(sub, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// inside gives the name within the bundle; what is not in its plainest form is refused.
func (u *unpacker) inside(name string) (string, error) {
	plain := strings.TrimSuffix(name, "/")
	switch {
	case u.top != "" && plain == u.top:
		return ".", nil
	case u.top != "":
		rest, ok := strings.CutPrefix(plain, u.top+"/")
		if !ok {
			return "", fmt.Errorf("%q is not in %q", name, u.top)
		}
		plain = rest
	}
	if plain == "" || path.Clean(plain) != plain || !filepath.IsLocal(plain) || strings.ContainsAny(plain, "\\\x00") {
		return "", fmt.Errorf("name %q", name)
	}
	return plain, nil
}

func (u *unpacker) file(name string, size int64) error {
	if size > maxPackedFile {
		return fmt.Errorf("%q is over %d MiB", name, maxPackedFile>>20)
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if strings.HasPrefix(name, "blobs/") {
		mode = 0o400
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|disk.NoFollow, mode)
	if err != nil {
		return err
	}
	err = u.copy(f)
	return errors.Join(err, f.Close())
}

// copy counts as it goes: a header may lie about what follows it.
func (u *unpacker) copy(f *os.File) error {
	buf := make([]byte, 64<<10)
	var n int64
	for {
		some, err := u.tar.Read(buf)
		n += int64(some)
		u.bytes += int64(some)
		switch {
		case n > maxPackedFile:
			return fmt.Errorf("a file of over %d MiB", maxPackedFile>>20)
		case tooMuch(u.bytes, u.raw.n) != nil: // holes of a sparse file come from no stream
			return tooMuch(u.bytes, u.raw.n)
		}
		if _, werr := f.Write(buf[:some]); werr != nil {
			return werr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// onlyPadding refuses bytes behind the archive, which one reader would see and another would not.
func onlyPadding(r io.Reader) error {
	rest, err := io.ReadAll(io.LimitReader(r, maxPadding+1))
	if err != nil {
		return err
	}
	if len(rest) > maxPadding || slices.ContainsFunc(rest, func(b byte) bool { return b != 0 }) {
		return errors.New("bytes behind its end")
	}
	return nil
}

func tooMuch(out, in int64) error {
	switch {
	case out > maxBundle:
		return fmt.Errorf("over %d GiB", maxBundle>>30)
	case out > ratioFrom && out/maxPackedRatio > in:
		return fmt.Errorf("packed over %d to one", maxPackedRatio)
	}
	return nil
}

// unpacked bounds what is read of a stream at all, members that are passed over and headers too.
type unpacked struct {
	r   io.Reader
	raw *counting
	n   int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.n += int64(n); err == nil || errors.Is(err, io.EOF) {
		if much := tooMuch(u.n, u.raw.n); much != nil {
			return 0, much
		}
	}
	return n, err
}

type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
