//go:build !unix

package index

import (
	"encoding/binary"
	"os"
	"path/filepath"
)

// marker looks at the files of the bundles in one directory.
type marker struct{ dir string }

func newMarker(dir string) (marker, error) { return marker{dir}, nil }

func (marker) close() {}

// appendMark adds what tells one state of a file from another.
func (m marker) appendMark(dst []byte, name string) ([]byte, bool) {
	info, err := os.Lstat(filepath.Join(m.dir, name))
	if err != nil {
		return dst, false
	}
	dst = binary.AppendVarint(dst, info.Size())
	return binary.AppendVarint(dst, info.ModTime().UnixNano()), true
}
