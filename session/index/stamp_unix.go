//go:build unix

package index

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// marker looks at the files of the bundles in one directory. It names them from
// there, which spares the kernel the walk from the root for each.
type marker struct {
	dir string
	at  *os.File
	fd  int
}

func newMarker(dir string) (marker, error) {
	f, err := os.Open(dir)
	if err != nil {
		return marker{}, err
	}
	return marker{dir, f, int(f.Fd())}, nil
}

func (m marker) close() { _ = m.at.Close() } // only looked at

// appendMark adds what tells one state of a file from another. The change time
// cannot be set by hand, so an edit that puts size and date back still shows.
func (m marker) appendMark(dst []byte, name string) ([]byte, bool) {
	var st unix.Stat_t
	if err := unix.Fstatat(m.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return dst, false
	}
	dst = binary.AppendUvarint(dst, uint64(st.Ino))
	dst = binary.AppendVarint(dst, int64(st.Size))
	dst = binary.AppendVarint(dst, st.Mtim.Nano())
	return binary.AppendVarint(dst, st.Ctim.Nano()), true
}
