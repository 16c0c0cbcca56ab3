package closure

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxText is how much of a file is looked at as a text.
const maxText = 1 << 20

func (w *walker) sum(path string) (sum string, text []byte, err error) {
	f, err := openPlain(path)
	if errors.Is(err, fs.ErrPermission) {
		return Unreadable, nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	h := sha256.New()
	var head headBuffer
	n, err := io.Copy(io.MultiWriter(h, &head), io.LimitReader(f, MaxBytes-w.read+1))
	if err != nil {
		return "", nil, fmt.Errorf("reading %q: %w", path, err)
	}
	if w.read += n; w.read > MaxBytes {
		return "", nil, fmt.Errorf("%q holds over %d bytes: too many to be trusted as they are; keep what is no part of it elsewhere", w.Root, int64(MaxBytes))
	}
	return hex.EncodeToString(h.Sum(nil)), head.b, nil
}

// openPlain does not wait for a pipe that took the place of a file.
func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a plain file, so what it says cannot be trusted", path)
	}
	return os.Open(path)
}

// headBuffer keeps the beginning of what is written to it.
type headBuffer struct{ b []byte }

func (l *headBuffer) Write(p []byte) (int, error) {
	if room := maxText - len(l.b); room > 0 {
		l.b = append(l.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
